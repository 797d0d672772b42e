/** Why a search ended, as the state and the sentence of its report. */

import { formatBoth, formatBytes } from '../format.ts';
import type { NativeFailure, NativeGuard } from '../native.types.ts';
import type { HostReading, Refusal, Stop } from '../probe/context.ts';
import { reason } from '../reason.ts';
import type { StressState } from '../types.ts';
import type { Room } from './search.ts';

export interface Ending {
  state: StressState;
  boundBy: string;
}

/** A failure of a native call that was not a lack of memory. */
export function failureEnding(failure: NativeFailure): Ending {
  return { state: failure.name === 'TIMEOUT' ? 'timeout' : 'failed', boundBy: reason(failure) };
}

export function refusalEnding({ sentence, why }: Refusal): Ending {
  return { state: why === 'device-memory' ? 'out-of-memory' : why, boundBy: sentence };
}

export function stopEnding({ reason: words, why }: Stop, trip: NativeGuard['trip']): Ending {
  if (why !== 'guard') return { state: why, boundBy: words };
  const by = trip?.reason ?? 'floor';
  return { state: by === 'parent' ? 'aborted' : by, boundBy: words };
}

export function deviceEnding(room: Room, nextBytes: number): Ending {
  return {
    state: 'out-of-memory',
    boundBy: `${formatBoth(room.device?.bytes ?? null)} are free on the device, and the next ${formatBytes(nextBytes)} would not fit`,
  };
}

/** The allocator said no. Where memory is there but not in blocks, that is the reason. */
export function refusedEnding(
  refused: { failure: NativeFailure; bytes: number } | null,
  heldBytes: number,
  reading: HostReading,
  floor: number | null,
): Ending {
  const bytes = refused?.bytes ?? 0;
  const said = refused === null ? 'the allocator refused' : reason(refused.failure);
  const { inBlocks, memAvailable } = reading;
  if (inBlocks !== null && memAvailable !== null && inBlocks < bytes && memAvailable - bytes >= (floor ?? 0)) {
    return {
      state: 'contiguity',
      boundBy: `${formatBoth(memAvailable)} are available, but only ${formatBytes(inBlocks)} of it in free blocks of 2 MiB, and ${formatBytes(bytes)} more were refused with ${formatBoth(heldBytes)} held (${said})`,
    };
  }
  return {
    state: 'out-of-memory',
    boundBy: `the allocator refused ${formatBoth(bytes)} with ${formatBoth(heldBytes)} held (${said})`,
  };
}

export function wrongBytes(found: Ending, verified: { mismatches: number; firstMismatch: number | null }): Ending {
  const { firstMismatch, mismatches } = verified;
  return {
    state: 'failed',
    boundBy: `verification read ${mismatches} wrong bytes, the first at offset ${firstMismatch ?? 'unknown'} of what was held; before that: ${found.boundBy}`,
  };
}
