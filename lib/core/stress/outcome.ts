/** Reason for a search's end: the `state` and `boundBy` of its report. Pure. */

import type { Failure } from '../../base/errors.ts';
import { reason } from '../../base/facts.ts';
import { formatBoth, formatBytes } from '../../base/format.ts';
import type { StressState } from '../../types/index.ts';
import type { NativeGuard } from '../native/contract.ts';
import type { HostReading, Refusal, Stop } from '../probe/context.ts';
import { failureReason } from '../probe/outcome.ts';
import type { Verified } from './held-blocks.ts';
import type { Headroom, StressMode } from './search.ts';

export interface StressOutcome {
  state: StressState;
  boundBy: string;
}

/** A native call failed, other than for lack of memory. */
export function failureOutcome(failure: Failure): StressOutcome {
  return { state: failure.name === 'TIMEOUT' ? 'timeout' : 'failed', boundBy: failureReason(failure) };
}

/** The next step was refused before it was made. */
export function refusalOutcome({ cause, sentence }: Refusal): StressOutcome {
  return { state: cause, boundBy: sentence };
}

export function stopOutcome({ cause, reason }: Stop, trip: NativeGuard['trip']): StressOutcome {
  if (cause !== 'guard') return { state: cause, boundBy: reason };
  const tripReason = trip?.reason ?? 'floor';
  return { state: tripReason === 'parent' ? 'aborted' : tripReason, boundBy: reason };
}

/** The next step would exceed the device's free memory, or take memory that stays free for other users. */
export function deviceOutcome({ device }: Headroom, nextBytes: number, shareBytes: number): StressOutcome {
  if (shareBytes > 0) {
    return {
      state: 'share',
      boundBy: `the device has ${formatBoth(device?.bytes ?? null)} free besides the ${formatBoth(shareBytes)} that stay free for its other users, and the next ${formatBytes(nextBytes)} would not fit`,
    };
  }
  return {
    state: 'out-of-memory',
    boundBy: `the device has ${formatBoth(device?.bytes ?? null)} free, and the next ${formatBytes(nextBytes)} would not fit`,
  };
}

/** The search when the allocator refused for the last time. */
export interface AllocatorRefusal {
  mode: StressMode;
  /** The smallest total, or block, that was refused. */
  refusedBytes: number;
  /** The largest total, or block, that was allocated. */
  bestBytes: number;
  /** Held at the refusal: 0 in `single` mode. */
  heldBytes: number;
  /** The last refusal; null: none. */
  failure: Failure | null;
}

/** Outcome of a refused allocation: `contiguity` if enough is available, but too little in large blocks. */
export function allocatorOutcome(
  refusal: AllocatorRefusal,
  { inLargeBlocks, memAvailable }: HostReading,
  floor: number | null,
): StressOutcome {
  const { bestBytes, failure, heldBytes, mode, refusedBytes } = refusal;
  const missing = refusedBytes - heldBytes;
  const unit = mode === 'single' ? 'block' : 'total';
  const largest =
    bestBytes === 0
      ? 'no allocation succeeded'
      : `the largest ${unit} that it allocated is ${formatBytes(refusedBytes - bestBytes)} less`;
  const error = failure === null ? '' : ` (${reason(failure)})`;
  const sentence = `the allocator refused a ${unit} of ${formatBoth(refusedBytes)}; ${largest}${error}`;
  const fitsWithoutBlocks = memAvailable !== null && memAvailable - missing >= (floor ?? 0);
  if (inLargeBlocks !== null && inLargeBlocks < missing && fitsWithoutBlocks) {
    return {
      state: 'contiguity',
      boundBy: `${formatBoth(memAvailable)} are available, but only ${formatBytes(inLargeBlocks)} of it in free blocks of 2 MiB: ${sentence}`,
    };
  }
  return { state: 'out-of-memory', boundBy: sentence };
}

/** The largest block could not be allocated again, to verify or hold it. The search's own outcome stands. */
export function reallocationRefused(found: StressOutcome, { sentence }: Refusal): StressOutcome {
  return { ...found, boundBy: `${found.boundBy}. It was not allocated again to verify or hold it: ${sentence}` };
}

export function mismatchOutcome(found: StressOutcome, { firstMismatch, mismatches }: Verified): StressOutcome {
  return {
    state: 'failed',
    boundBy: `verification read ${mismatches} wrong bytes, the first at offset ${firstMismatch ?? 'unknown'} of the held memory; before that: ${found.boundBy}`,
  };
}
