/** Questions that both the judgement and doctor ask of a snapshot. */

import type { DeviceSnapshot, FreeBlocks, Snapshot } from '../types/index.ts';
import { unpinnable } from './allocatable.ts';
import { ledgerBytes } from './ledger.ts';

/** What the next allocation can have, and of how much: the unified device's answer, else the host's own. */
export function headroom(snapshot: Snapshot): { immediate: number | null; afterReclaim: number | null; total: number } {
  const { host } = snapshot;
  const device = unifiedDevice(snapshot);
  return {
    immediate: device?.allocatable.immediate ?? host.free,
    afterReclaim: device?.allocatable.afterReclaim ?? host.available,
    total: host.total,
  };
}

export function unifiedDevice({ devices }: Snapshot): DeviceSnapshot | undefined {
  return devices.find((device) => device.memoryModel === 'unified');
}

/** What can be had of a GPU's own memory, and of how much. */
export interface OwnHeadroom {
  device: DeviceSnapshot;
  bytes: number;
  total: number;
}

/** The GPUs with memory of their own of which both numbers are known, the fullest first. */
export function ownHeadrooms({ devices }: Snapshot): OwnHeadroom[] {
  return devices
    .filter((device) => device.memoryModel !== 'unified')
    .map((device) => {
      const { cuda, nvml, migMode, allocatable } = device;
      // In MIG mode NVML's total is the whole GPU's, and what can be allocated is one slice's.
      const total = migMode?.current === true ? cuda?.total : (nvml?.total ?? cuda?.total);
      return { device, bytes: allocatable.afterReclaim ?? allocatable.immediate, total: total ?? null };
    })
    .filter((own): own is OwnHeadroom => own.bytes !== null && own.total !== null && own.total > 0)
    .sort((a, b) => a.bytes / a.total - b.bytes / b.total);
}

/** Bytes of free memory in blocks of at least `blockBytes`. */
export function bytesInBlocks(contiguity: readonly FreeBlocks[], blockBytes: number): number {
  return contiguity
    .filter((blocks) => blocks.blockBytes >= blockBytes)
    .reduce((sum, blocks) => sum + blocks.blockBytes * blocks.freeBlocks, 0);
}

/**
 * The same without free CMA, which counts among the blocks but cannot hold GPU memory. In blocks of which size it lies
 * the kernel does not say; CMA comes in whole pageblocks (4,761 of 2 MiB on a Spark with kexec-handover, NV-Kernels
 * PR 590), so all of it is taken off the large ones: the worst case.
 */
export function pinnableInBlocks(
  snapshot: Snapshot,
  contiguity: readonly FreeBlocks[],
  blockBytes: number,
): { bytes: number; cma: number } {
  const bytes = bytesInBlocks(contiguity, blockBytes);
  const cma = Math.min(bytes, unpinnable(snapshot.host).now);
  return { bytes: bytes - cma, cma };
}

/** Bytes that no counter and no process explains. */
export function unattributed({ ledger }: Snapshot): number {
  return ledgerBytes(ledger, 'unattributed');
}

/**
 * Share of MemTotal that nobody explains. A start check in the field refuses to launch above 16 GiB of 121.7; an idle
 * desktop has 1.1.
 */
const HIDDEN_SHARE = 0.13;

/** Whether so many bytes are more than a kernel and a driver usually take. */
export function isMuchHidden(bytes: number, { ledger }: Snapshot): boolean {
  return bytes >= ledger.total * HIDDEN_SHARE;
}

/** Whether this driver may keep freed GPU memory in pools whose size cannot be read, so that the ledger lacks them. */
export function hasUnknownPools({ driver }: Snapshot): boolean {
  return (driver.systemMemoryPools ?? 0) !== 0 && driver.poolBytes === null;
}

/** How long a library has not answered, as its reason tells it; null: it does not tell. */
export function silentForMs(reason: string | null | undefined): number | null {
  const ms = /(?:within|blocked for) (\d+(?:\.\d+)?) ms/.exec(reason ?? '')?.[1];
  return ms === undefined ? null : Number(ms);
}
