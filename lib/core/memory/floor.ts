/** The floor: memory that a probe leaves for the host, and the bands of the verdict that follow from it. */

import { checkBytes, sizeOutOfRange } from '../../base/arguments.ts';
import { formatBoth, formatBytes, GiB, MiB } from '../../base/format.ts';
import { ANY_BYTES } from '../../base/limits.ts';
import { custom, flag } from '../../base/options.ts';
import type { AllocatorKind, MemoryModel, ProbeHeader } from '../../types/index.ts';
import { takesHostMemory } from './kinds.ts';

/**
 * Share of MemTotal. Inference engines died in loads that left less than 2 GiB, and survived with about 9 GiB left, 7 %
 * of a GB10 (MiaAI PR 115).
 */
const FLOOR_SHARE = 0.07;
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
const MIN_FLOOR = 2 * GiB;

const LEAST = `${MIN_FLOOR / GiB}GiB`;

/** The default as a help text says it. */
export const DEFAULT_FLOOR_TEXT = `the larger of ${FLOOR / GiB} GiB and ${Math.round(FLOOR_SHARE * 100)} % of MemTotal`;

/**
 * The floor as an option of everything that takes memory, or lets a program take it.
 *
 * @param also what else is accepted with a small floor.
 */
export const floorRows = (also = '') => ({
  /**
   * Memory left for the host, in bytes, less than MemTotal. Default, for what takes host memory: the larger of 8 GiB and 7 % of
   * MemTotal, but no more than a quarter of a machine below 32 GiB. At least 2 GiB unless `acceptAFrozenMachine`.
   */
  floorBytes: custom(checkFloor, {
    form: 'size',
    range: ANY_BYTES,
    help: 'Memory to leave the host',
    usually: `${DEFAULT_FLOOR_TEXT}; at least ${LEAST}`,
    refuse: (bytes, { acceptAFrozenMachine }) =>
      bytes < MIN_FLOOR && acceptAFrozenMachine !== true
        ? `is below ${LEAST}: a host that runs out of memory freezes instead of failing. Give a larger floor, or add --i-accept-a-frozen-machine.`
        : null,
  }),
  /**
   * Allow a floor below 2 GiB, and of what allocates itself a start on a machine under pressure, fragmented or swapping; never
   * a start below the floor. Default `false`.
   */
  acceptAFrozenMachine: flag({ flag: 'i-accept-a-frozen-machine', help: `Accept a floor below ${LEAST}${also}` }),
});

function checkFloor(name: string, value: unknown, { acceptAFrozenMachine }: Readonly<Record<string, unknown>>): number {
  const floor = checkBytes(name, value, ANY_BYTES);
  if (floor < MIN_FLOOR && acceptAFrozenMachine !== true)
    throw sizeOutOfRange(
      name,
      `at least ${MIN_FLOOR / GiB} GiB, because a host without memory freezes; acceptAFrozenMachine takes less`,
      floor,
    );
  return floor;
}

/**
 * A size that a caller asks for, on a machine with `total` bytes.
 *
 * @param name of the option, as in both interfaces: "floorBytes (--floor)".
 * @throws RangeError where so much can never be there.
 */
export function checkBelowTotal(name: string, bytes: number | null | undefined, total: number): void {
  if (typeof bytes !== 'number' || bytes < total) return;
  throw sizeOutOfRange(name, `less than MemTotal, ${formatBoth(total)}: give a smaller size`, bytes);
}

export type FloorRows = ReturnType<typeof floorRows>;

/** Host memory that stays available, in bytes, and the rule that gave this amount. */
export type Floor = NonNullable<ProbeHeader['floor']>;

/**
 * The host's floor: the requested one, else the larger of 8 GiB and 7 % of MemTotal, but no more than a quarter of a small
 * machine.
 *
 * @param requested as an option; null: the default.
 */
export function hostFloor(total: number, requested: number | null = null): Floor {
  if (requested !== null) return { bytes: requested, from: 'as requested' };
  const usual = Math.max(FLOOR, Math.ceil(total * FLOOR_SHARE));
  const small = Math.max(MIN_FLOOR, Math.ceil(total * SMALL_SHARE));
  const of = `MemTotal, ${formatBoth(total)}`;
  if (small < usual) return { bytes: small, from: `a quarter of ${of}, at least ${formatBytes(MIN_FLOOR)}` };
  return { bytes: usual, from: `the larger of ${formatBytes(FLOOR)} and ${Math.round(FLOOR_SHARE * 100)} % of ${of}` };
}

/** The floor of a probe with these kinds of memory; null: none of them takes memory from the host. */
export function probeFloor(
  requested: number | null,
  { model, total }: { total: number; model: MemoryModel },
  kinds: readonly AllocatorKind[],
): Floor | null {
  return kinds.some((kind) => takesHostMemory(kind, model)) ? hostFloor(total, requested) : null;
}

/**
 * Margin of planned steps above the floor, in bytes: without it, small allocations of other programs would trip the
 * guard, which acts at the floor itself.
 */
export function stepMargin(floor: number): number {
  return Math.min(64 * MiB, Math.floor(floor / 32));
}

/**
 * Host memory that a CUDA program takes besides its data, in bytes: its context and the pages of the process. A context
 * takes 527 MiB on an H200 with 132 multiprocessors; a GB10 has 48, and its context was not measured.
 */
export const PROGRAM_BYTES = 512 * MiB;

/** Part of the low band below which a machine is in danger: 2 of 8 GiB. */
const CRITICAL_PART = 0.25;

/**
 * The bands of a machine with `total` bytes, in bytes. They are absolute sizes, never shares of MemTotal: "more than 90
 * % used" gave 3,700 false warnings in three days on two Sparks that rest at 4.9 GiB available with no pressure at all
 * (hermes-agent #90713), and 7 % of a server with 2 TiB is 140 GiB. Below `low`, the floor that a probe keeps: load
 * nothing more. At or below `critical`: loads that left less than 2 GiB cost engines (MiaAI PR 115), and an operator's
 * alert for a Spark is set there (keiretsu-labs PR 2846). These sizes were not made for machines below 32 GiB, where
 * both are the same parts of a quarter of MemTotal: an idle Orin with 8 GiB has 5 of them available, and its bands are
 * 1.9 and 0.5 GiB.
 */
export function lowMemory(total: number): { low: number; critical: number } {
  const low = Math.min(FLOOR, total * SMALL_SHARE);
  return { low, critical: low * CRITICAL_PART };
}
