/** A trip of the guard, as a sentence and as the report's field. */

import { formatBoth } from '../base/format.ts';
import { stalledAtLimitText } from '../memory/pressure.ts';
import type { NativeGuard } from '../native/contract.ts';
import type { ProbeGuardReport } from '../types/index.ts';
import type { RunLimits } from './context.ts';

type Trip = NonNullable<NativeGuard['trip']>;

/** "the guard stopped it: MemAvailable 8.21 GiB (8.82 GB) fell below the floor of 8.38 GiB (9.00 GB)". */
export function guardSentence(
  { available, pressureFull, reason }: Pick<Trip, 'available' | 'pressureFull' | 'reason'>,
  { floor, pressureFull: limit }: Pick<RunLimits, 'floor' | 'pressureFull'>,
): string {
  switch (reason) {
    case 'floor':
      return `the guard stopped it: MemAvailable ${formatBoth(available)} fell below the floor of ${formatBoth(floor)}`;
    case 'pressure':
      return `the guard stopped it: ${stalledAtLimitText(pressureFull ?? 0, limit ?? 0)}`;
    case 'parent':
      return 'the guard stopped it: the parent process is gone';
  }
}

/** @param exited the memory did not come back in time, and the guard ended the process. */
export function guardReport(trip: Trip | null, exited: boolean): ProbeGuardReport | null {
  if (trip === null) return null;
  const { available, freedAfterMs, pressureFull, reason, stoppedAfterMs } = trip;
  return { reason, memAvailable: available, pressureFull, stoppedAfterMs, freedAfterMs, left: exited };
}
