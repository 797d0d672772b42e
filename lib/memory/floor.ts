/** The floor: memory that a probe leaves for the host. */

import { formatBoth, formatBytes, GiB } from '../base/format.ts';
import type { AllocatorKind, MemoryModel, ProbeHeader } from '../types/index.ts';
import { takesHostMemory } from './kinds.ts';

/**
 * Share of MemTotal. Inference engines died in loads that left less than 2 GiB, and survived with about 9 GiB left, 7 %
 * of a GB10 (MiaAI PR 115).
 */
export const FLOOR_SHARE = 0.07;
/**
 * Lower bound of the default. Field reports call 8 to 9 GiB left after loading stable on 120 GiB (util 0.75, two
 * Sparks); wedges are on record with 8.7 GiB left. Watchdogs at 2 GiB killed healthy servers, and at 6 GiB healthy
 * loads.
 */
const FLOOR = 8 * GiB;

/** Share of MemTotal for machines on which the default would be more: there 8 GiB are most of the memory. */
const SMALL_SHARE = 0.25;

/**
 * The smallest floor, in bytes: the lower bound for small machines, and for callers who do not accept that the machine may
 * freeze.
 */
export const MIN_FLOOR = 2 * GiB;

/** The default as a help text says it. */
export const DEFAULT_FLOOR_TEXT = `the larger of ${FLOOR / GiB} GiB and ${Math.round(FLOOR_SHARE * 100)} % of MemTotal`;

/**
 * The floor in bytes, and the rule that gave it: the requested floor, else the larger of 8 GiB and 7 % of MemTotal, but
 * no more than a quarter of a small machine. null: none of the kinds takes memory from the host.
 *
 * @param requested checked by `checkProbeOptions`; null: the default.
 */
export function floorFor(
  requested: number | null,
  machine: { total: number; model: MemoryModel },
  kinds: readonly AllocatorKind[],
): ProbeHeader['floor'] {
  const { model, total } = machine;
  if (!kinds.some((kind) => takesHostMemory(kind, model))) return null;
  if (requested !== null) return { bytes: requested, from: 'as requested' };
  const usual = Math.max(FLOOR, Math.ceil(total * FLOOR_SHARE));
  const small = Math.max(MIN_FLOOR, Math.ceil(total * SMALL_SHARE));
  const of = `MemTotal, ${formatBoth(total)}`;
  if (small < usual) return { bytes: small, from: `a quarter of ${of}, at least ${formatBytes(MIN_FLOOR)}` };
  return { bytes: usual, from: `the larger of ${formatBytes(FLOOR)} and ${Math.round(FLOOR_SHARE * 100)} % of ${of}` };
}
