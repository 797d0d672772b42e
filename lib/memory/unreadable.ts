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

/** `reason()` of a file of the kernel that did not answer in time. */
const SILENT_FILE = /^ERR_UMA_TIMEOUT: (?:read|list) (\/\S+) answered /;

/** Kernel files that do not answer: served by a file system in user space that hangs, or behind a lock of the kernel. */
export function silentFiles({ from }: Snapshot): HealthVerdict | null {
  const files = [...new Set(Object.values(from).flatMap((source) => SILENT_FILE.exec(source)?.[1] ?? []))];
  const [first] = files;
  if (first === undefined) return null;
  const others =
    files.length === 1 ? '' : ` and ${files.length - 1} other ${files.length === 2 ? 'file' : 'files'} of the kernel`;
  return {
    level: 'warning',
    text: `${first}${others} ${files.length === 1 ? 'does' : 'do'} not answer: what ${files.length === 1 ? 'it says' : 'they say'} is not known, and every program that reads ${files.length === 1 ? 'it' : 'them'} hangs.`,
    next: `find out what serves it (in a container: lxcfs): findmnt --target ${first}`,
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
