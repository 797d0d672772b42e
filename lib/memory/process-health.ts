/** The verdict where it is not known which processes hold GPU memory: much in no counter is no finding then. */

import { formatBytes } from '../base/format.ts';
import type { Snapshot } from '../types/index.ts';
import { plainReason } from './gpu-processes.ts';
import { isMuchHidden, unattributed, unknownGpuMemory } from './headroom.ts';
import type { HealthVerdict } from './verdict.ts';

export function unknownProcesses(snapshot: Snapshot): HealthVerdict | null {
  const reason = unknownGpuMemory(snapshot);
  const rest = unattributed(snapshot);
  if (reason === null || !isMuchHidden(rest, snapshot) || (snapshot.driver.poolBytes ?? 0) >= rest) return null;
  return {
    level: 'notice',
    text: `${formatBytes(rest)} are in no counter; how much of it GPU processes hold is not known here: ${plainReason(reason)}.`,
    next: 'umaprobe doctor',
  };
}
