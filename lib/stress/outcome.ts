/** Why a search ended, as the state and the sentence of its report. */

import type { Failure } from '../base/errors.ts';
import { reason } from '../base/facts.ts';
import { formatBoth, formatBytes } from '../base/format.ts';
import type { NativeGuard } from '../native/contract.ts';
import type { HostReading, Refusal, Stop } from '../probe/context.ts';
import type { StressState } from '../types/index.ts';
import type { Headroom, StressMode } from './search.ts';

export interface Outcome {
  state: StressState;
  boundBy: string;
}

/** A failure of a native call that was not a lack of memory. */
export function failureOutcome(failure: Failure): Outcome {
  return { state: failure.name === 'TIMEOUT' ? 'timeout' : 'failed', boundBy: reason(failure) };
}

export function refusalOutcome({ cause, sentence }: Refusal): Outcome {
  return { state: cause, boundBy: sentence };
}

export function stopOutcome({ cause, reason }: Stop, trip: NativeGuard['trip']): Outcome {
  if (cause !== 'guard') return { state: cause, boundBy: reason };
  const by = trip?.reason ?? 'floor';
  return { state: by === 'parent' ? 'aborted' : by, boundBy: reason };
}

export function deviceOutcome(room: Headroom, nextBytes: number): Outcome {
  return {
    state: 'out-of-memory',
    boundBy: `${formatBoth(room.device?.bytes ?? null)} are free on the device, and the next ${formatBytes(nextBytes)} would not fit`,
  };
}

/** What the search knew when the allocator had said no for the last time. */
export interface Refused {
  mode: StressMode;
  /** The smallest total, or block, that was refused. */
  refusedBytes: number;
  /** The largest that was given, and what of it is held: nothing in `single` mode. */
  bestBytes: number;
  heldBytes: number;
  /** The last refusal; null: none. */
  failure: Failure | null;
}

/** The allocator said no. Where memory is there but not in blocks, that is the reason. */
export function refusedOutcome(
  found: Refused,
  { inLargeBlocks, memAvailable }: HostReading,
  floor: number | null,
): Outcome {
  const { bestBytes, failure, heldBytes, mode, refusedBytes } = found;
  const missing = refusedBytes - heldBytes;
  const what = mode === 'single' ? 'a block of ' : 'a total of ';
  const largest = mode === 'single' ? 'the largest that it gave is' : 'it gave';
  const said = failure === null ? '' : ` (${reason(failure)})`;
  const words =
    `the allocator refused ${what}${formatBoth(refusedBytes)}; ` +
    (bestBytes === 0 ? 'it gave nothing' : `${largest} ${formatBytes(refusedBytes - bestBytes)} less`);
  if (
    inLargeBlocks !== null &&
    memAvailable !== null &&
    inLargeBlocks < missing &&
    memAvailable - missing >= (floor ?? 0)
  ) {
    return {
      state: 'contiguity',
      boundBy: `${formatBoth(memAvailable)} are available, but only ${formatBytes(inLargeBlocks)} of it in free blocks of 2 MiB: ${words}${said}`,
    };
  }
  return { state: 'out-of-memory', boundBy: `${words}${said}` };
}

/** The largest block could not be taken once more, to be verified or held: the search's end stands, and why no more was done. */
export function refusedAgain(found: Outcome, { sentence }: Refusal): Outcome {
  return { ...found, boundBy: `${found.boundBy}. It was not taken once more to be verified or held: ${sentence}` };
}

export function wrongBytes(found: Outcome, verified: { mismatches: number; firstMismatch: number | null }): Outcome {
  const { firstMismatch, mismatches } = verified;
  return {
    state: 'failed',
    boundBy: `verification read ${mismatches} wrong bytes, the first at offset ${firstMismatch ?? 'unknown'} of what was held; before that: ${found.boundBy}`,
  };
}
