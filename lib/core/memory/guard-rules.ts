/**
 * Facts of its machine and its caller that the guard of a program is given. All its other rules are its own, with the
 * evidence: native/run/supervisor/rule_list.h. The rules of a probe's guard are in native/guard/rules.h.
 */

import { GiB, MiB } from '../../base/format.ts';
import { hostFloor, lowMemory } from './floor.ts';
import { PLATEAU_SHARE } from './plateaus.ts';
import { STALLED_PERCENT } from './pressure.ts';

/**
 * The guard that ended the load-time wedges of two Sparks dropped caches and compacted each second while MemFree was below
 * 8 GiB; MemFree then never went below 2.6 GiB (tonyd2wild PR 19). A smaller machine has the same share.
 */
const LOAD_FREE_BYTES = 8 * GiB;

/** The rules of rule_list.h that sentences name; a test compares them. */
export const SHOWN_RULES = {
  pressureFullPercent: STALLED_PERCENT,
  pressureForMs: 300_000,
  minBlocksBytes: 128 * MiB,
  notifyMs: 10_000,
} as const;

/** The thresholds of a machine with `total` bytes, with the caller's floor and limit in place of the defaults. */
export function guardThresholds(
  total: number,
  requested: { [name in 'floorBytes' | 'killBelowBytes' | 'loadBytes']?: number | undefined } = {},
) {
  const usual = hostFloor(total, requested.floorBytes ?? null);
  const { critical, low } = lowMemory(total);
  // A limit above the floor is the floor; a floor below the critical band is the limit.
  const killBelowBytes = requested.killBelowBytes ?? Math.min(Math.floor(critical), usual.bytes);
  return {
    floor: killBelowBytes > usual.bytes ? { bytes: killBelowBytes, from: 'the limit, as requested' } : usual,
    killBelowBytes,
    loadFreeBytes: Math.floor(Math.min(LOAD_FREE_BYTES, low)),
    loadStepBytes: Math.ceil(total * PLATEAU_SHARE),
    loadLeastBytes: requested.loadBytes ?? 0,
  };
}

/** Bytes. */
export type GuardThresholds = ReturnType<typeof guardThresholds>;
