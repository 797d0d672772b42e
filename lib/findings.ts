/** Questions that both the judgement and doctor ask of a snapshot. */
import { ledgerBytes } from './ledger.ts';
import type { DeviceSnapshot, FreeBlocks, Snapshot } from './types.ts';

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

/** Bytes of free memory in blocks of at least `blockBytes`. */
export function bytesInBlocks(contiguity: readonly FreeBlocks[], blockBytes: number): number {
  return contiguity
    .filter((blocks) => blocks.blockBytes >= blockBytes)
    .reduce((sum, blocks) => sum + blocks.blockBytes * blocks.freeBlocks, 0);
}

/** Bytes that no counter and no process explains. */
export function unattributed({ ledger }: Snapshot): number {
  return ledgerBytes(ledger, 'unattributed');
}
