/** Who writes a journal, and whether they are still there. */

import { readFileSync } from 'node:fs';
import type { Writer } from '../journal/records.ts';

/** Field 22 of /proc/<pid>/stat: clock ticks from boot to the start of the process; null: no such process. */
export function startTicks(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in field 2 may hold spaces and parentheses; the last parenthesis ends it.
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie holds nothing any more.
    return state === 'Z' || state === 'X' ? null : Number(fields[18]);
  } catch {
    return null;
  }
}

export function thisProcess(): Writer {
  return { pid: process.pid, startTicks: startTicks(process.pid) };
}

/** A number that was given to another process since does not count. */
export function isAlive(writer: Writer): boolean {
  const now = startTicks(writer.pid);
  return now !== null && (writer.startTicks === null || now === writer.startTicks);
}
