/** How much memory the host keeps while something is allocated to find the edge. */

import { formatBoth, formatBytes, GiB } from '../base/format.ts';
import type { AllocatorKind, MemoryModel, ProbeHeader } from '../types/index.ts';

const SHARE = 0.07;
/**
 * Wedges are on record with 8.7 GiB left; 8 to 9 GiB after loading is what field reports call stable on 120 GiB
 * (util 0.75, two Sparks). Watchdogs at 2 GiB killed healthy servers, and at 6 GiB healthy loads.
 */
const FLOOR = 8 * GiB;
/** Of a machine so small that 8 GiB are most of it, a quarter. */
const SMALL_SHARE = 0.25;
const LEAST = 2 * GiB;

/** Kinds whose memory is the host's on a device with memory of its own; `managed` moves there when it is evicted. */
const HOST_KINDS: readonly AllocatorKind[] = ['managed', 'pinned', 'system'];

/** Whether such an allocation can take memory from the host. A device of which nobody knows is treated as unified. */
export function takesHostMemory(kind: AllocatorKind, model: MemoryModel): boolean {
  return model === 'unified' || model === 'unknown' || HOST_KINDS.includes(kind);
}

/**
 * The floor in bytes, and why that much: as asked for, else the larger of 8 GiB and 7 % of MemTotal, but no more than a
 * quarter of a small machine. null: none of the kinds takes memory from the host.
 *
 * @param asked checked by `checkProbeOptions`; null: the default.
 */
export function floorFor(
  asked: number | null,
  machine: { total: number; model: MemoryModel },
  kinds: readonly AllocatorKind[],
): ProbeHeader['floor'] {
  const { model, total } = machine;
  if (!kinds.some((kind) => takesHostMemory(kind, model))) return null;
  if (asked !== null) return { bytes: asked, from: 'as asked for' };
  const usual = Math.max(FLOOR, Math.ceil(total * SHARE));
  const small = Math.max(LEAST, Math.ceil(total * SMALL_SHARE));
  const of = `MemTotal, ${formatBoth(total)}`;
  if (small < usual) return { bytes: small, from: `a quarter of ${of}, at least ${formatBytes(LEAST)}` };
  return { bytes: usual, from: `the larger of ${formatBytes(FLOOR)} and ${Math.round(SHARE * 100)} % of ${of}` };
}
