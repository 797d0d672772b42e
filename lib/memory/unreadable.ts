/** Rules for a machine whose memory counters cannot all be read: what is then not known, and so not fine. */

import { clean } from '../base/format.ts';
import type { Snapshot } from '../types/index.ts';
import { unifiedDevice } from './headroom.ts';
import type { HealthVerdict } from './verdict.ts';

/** Without a counter that the kernel always has, the remainder of the ledger is not memory that nobody accounts for. */
export function notSplit({ from, host, ledger }: Snapshot): HealthVerdict | null {
  if (ledger.notSplit.length === 0) return null;
  const [why] = (
    ['free', 'cached', 'buffers', 'anonPages', 'shmem', 'sUnreclaim', 'pageTables', 'sReclaimable'] as const
  )
    .filter((field) => host[field] === null)
    .map((field) => from[`host.${field}`]);
  return {
    level: 'notice',
    text: `The use of the memory cannot be split: ${ledger.notSplit.join(', ')}${why === undefined ? '' : ` (${clean(why)})`}.`,
    next: 'umaprobe snapshot --json (the record from has each reason)',
  };
}

/** Without MemAvailable nothing says how much can be allocated, and no floor can be kept. */
export function unknownAvailable(snapshot: Snapshot): HealthVerdict | null {
  if (snapshot.host.available !== null) return null;
  const why = snapshot.from['host.available'];
  const memory = unifiedDevice(snapshot) === undefined ? "of the host's memory" : 'of the unified memory';
  return {
    level: 'warning',
    text: `How much ${memory} can be allocated is not known: MemAvailable cannot be read${why === undefined ? '' : ` (${clean(why)})`}.`,
    next: 'head -3 /proc/meminfo',
  };
}
