/** The header of every probe's report, each number with its source. */

import { isFailure, reason } from '../../base/facts.ts';
import type { AllocatorKind, KindSupport, ProbeHeader } from '../../types/index.ts';
import { KINDS } from '../memory/kinds.ts';
import type { NativeAllocator } from '../native/contract.ts';
import type { Baseline } from './spec.ts';

const NOT_OPENED = 'the child process ended before its allocator was open';

/** @param allocator null: the child ended before it was open. */
export function probeHeader(
  baseline: Baseline,
  allocator: NativeAllocator | null,
  journal: string | null,
): Omit<ProbeHeader, 'durationMs'> {
  const { device, floor, others, snapshot, unfinished } = baseline;
  const { host, libraries } = snapshot;
  const memGetInfo = allocator?.memGetInfo;
  const total = memGetInfo === undefined || isFailure(memGetInfo) ? null : memGetInfo[1];
  const driverVersion = snapshot.driver.version ?? libraries.nvml.driverVersion;
  return {
    at: snapshot.at,
    bootId: snapshot.bootId,
    simulated: snapshot.simulated,
    timeScale: baseline.timeScale,
    device: {
      index: device.index,
      name: device.name,
      uuid: device.uuid,
      memoryModel: device.memoryModel,
      total,
      driverVersion,
      cudaVersion: libraries.cuda.driverVersion,
    },
    kinds: KINDS.map((kind) => support(kind, allocator)),
    host: { total: host.total, available: host.available, free: host.free, swapTotal: host.swapTotal },
    floor,
    others,
    touch: touch(allocator),
    journal,
    journalNotes: [...baseline.journalNotes],
    unfinished,
    from: {
      'device.memoryModel': device.from.memoryModel ?? 'CUDA device attributes',
      'device.total':
        memGetInfo === undefined ? NOT_OPENED : isFailure(memGetInfo) ? reason(memGetInfo) : 'cudaMemGetInfo',
      'device.driverVersion':
        snapshot.driver.version === null ? 'nvmlSystemGetDriverVersion' : '/proc/driver/nvidia/version',
      'device.cudaVersion': 'cuDriverGetVersion',
      'host.total': '/proc/meminfo',
      'host.available':
        host.available === null ? (snapshot.from['host.available'] ?? '/proc/meminfo') : '/proc/meminfo',
      'host.free': '/proc/meminfo',
      'host.swapTotal': '/proc/meminfo',
      ...(snapshot.bootId === null ? { bootId: snapshot.from.bootId ?? 'it could not be read' } : {}),
      'settled.memAvailableChange': '/proc/meminfo',
      'settled.memFreeChange': '/proc/meminfo',
      'settled.cudaFreeChange':
        device.cuda !== null || device.nvml !== null
          ? 'free memory of the device from NVML, which needs no CUDA context'
          : (device.from.nvml ?? 'neither CUDA nor NVML memory was read'),
    },
  };
}

function support(kind: AllocatorKind, allocator: NativeAllocator | null): KindSupport {
  const fact = allocator?.kinds[kind];
  if (fact === undefined) return { kind, supported: false, call: null, reason: NOT_OPENED };
  if (isFailure(fact)) return { kind, supported: false, call: null, reason: reason(fact) };
  return { kind, supported: true, call: fact, reason: null };
}

function touch(allocator: NativeAllocator | null): ProbeHeader['touch'] {
  if (allocator === null) return { by: 'memset', reason: NOT_OPENED };
  if (isFailure(allocator.kernel)) return { by: 'memset', reason: reason(allocator.kernel) };
  return { by: 'kernel', reason: null };
}
