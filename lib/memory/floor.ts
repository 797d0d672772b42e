/** How much memory the host keeps while something is allocated to find the edge. */

import { formatBoth, formatBytes, GiB } from '../base/format.ts';
import type { AllocatorKind, MemoryModel, ProbeHeader } from '../types/index.ts';
import { takesHostMemory } from './kinds.ts';

/**
 * Share of MemTotal. Loads that left less than 2 GiB cost engines, those that kept about 9 GiB (7 % of a GB10) did not
 * (MiaAI PR 115).
 */
export const FLOOR_SHARE = 0.07;
/**
 * Wedges are on record with 8.7 GiB left; 8 to 9 GiB after loading is what field reports call stable on 120 GiB
 * (util 0.75, two Sparks). Watchdogs at 2 GiB killed healthy servers, and at 6 GiB healthy loads.
 */
const FLOOR = 8 * GiB;
/** Of a machine so small that 8 GiB are most of it, a quarter. */
const SMALL_SHARE = 0.25;
const LEAST = 2 * GiB;

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
  const usual = Math.max(FLOOR, Math.ceil(total * FLOOR_SHARE));
  const small = Math.max(LEAST, Math.ceil(total * SMALL_SHARE));
  const of = `MemTotal, ${formatBoth(total)}`;
  if (small < usual) return { bytes: small, from: `a quarter of ${of}, at least ${formatBytes(LEAST)}` };
  return { bytes: usual, from: `the larger of ${formatBytes(FLOOR)} and ${Math.round(FLOOR_SHARE * 100)} % of ${of}` };
}
