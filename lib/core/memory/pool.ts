/** A snapshot as the few numbers that another program asks for. Nothing is decided here: they are those of the judgement. */

import type { DeviceSnapshot, GpuMemory, Memory, MemoryModel, MemoryPool, Snapshot } from '../../types/index.ts';
import { answeredDevice } from './answer.ts';
import { headroom, totalOf } from './headroom.ts';

/** The memory that a program which loads now gets, and each GPU's. */
export function memoryOf(snapshot: Snapshot): Memory {
  const { devices, host, judgement, simulated } = snapshot;
  const device = answeredDevice(snapshot);
  return {
    unified: device === undefined ? null : isUnified(device.memoryModel),
    ...(device === undefined ? hostPool(snapshot) : { ...devicePool(device, host.total), safe: judgement.safe.bytes }),
    gpus: devices.map((gpu) => gpuMemory(gpu, host.total)),
    verdict: judgement.mayLoad,
    because: judgement.because,
    simulated,
  };
}

function gpuMemory(device: DeviceSnapshot, hostTotal: number): GpuMemory {
  const { memoryModel, name, uuid } = device;
  return { name, uuid, unified: isUnified(memoryModel), ...devicePool(device, hostTotal) };
}

function isUnified(model: MemoryModel): boolean | null {
  return model === 'unknown' ? null : model === 'unified';
}

function devicePool(device: DeviceSnapshot, hostTotal: number): MemoryPool {
  const { afterReclaim, immediate, safe } = device.allocatable;
  return { total: totalOf(device, hostTotal), free: immediate, available: afterReclaim ?? immediate, safe };
}

function hostPool(snapshot: Snapshot): MemoryPool {
  const { afterReclaim, immediate, total } = headroom(snapshot);
  // The number of the command's first line.
  return { total, free: immediate, available: afterReclaim, safe: afterReclaim };
}
