/** A trip of the guard, as a sentence and as the report's field. */

import { formatBoth, formatBytes } from '../../base/format.ts';
import type { ProbeGuardReport } from '../../types/index.ts';
import { stalledAtLimitText } from '../memory/pressure.ts';
import type { ProbeTrip } from '../native/contract.ts';
import type { RunLimits } from './context.ts';

/** "the guard stopped it: MemAvailable 8.21 GiB (8.82 GB) fell below the floor of 8.38 GiB (9.00 GB)". */
export function guardSentence(
  trip: Pick<ProbeTrip, 'available' | 'freeInCpuLists' | 'pressureFull' | 'reason'>,
  { floor, pressureFull: limit }: Pick<RunLimits, 'floor' | 'pressureFull'>,
): string {
  const { available, freeInCpuLists, pressureFull, reason } = trip;
  switch (reason) {
    case 'floor': {
      const lists = freeInCpuLists === null ? '' : `, with ${formatBytes(freeInCpuLists)} in the processors’ lists,`;
      return `the guard stopped it: MemAvailable ${formatBoth(available)}${lists} fell below the floor of ${formatBoth(floor)}`;
    }
    case 'pressure':
      return `the guard stopped it: ${stalledAtLimitText(pressureFull ?? 0, limit ?? 0)}`;
    case 'parent':
      return 'the guard stopped it: the parent process is gone';
  }
}

export function guardReport(trip: ProbeTrip | null): ProbeGuardReport | null {
  if (trip === null) return null;
  const { available, freeInCpuLists, freedAfterMs, left, pressureFull, reason, stoppedAfterMs } = trip;
  return { reason, memAvailable: available, freeInCpuLists, pressureFull, stoppedAfterMs, freedAfterMs, left };
}
