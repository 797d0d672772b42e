/** Processes: identity, liveness and name, and the PID namespace in which a pid is valid. */

import { readlinkSync } from 'node:fs';
import { isFailure } from '../../base/facts.ts';
import { readSystemFile } from '../../base/system-file.ts';
import type { KernelFiles } from './files.ts';

/** A process. Its start time distinguishes it from a later process with the same pid. */
export interface ProcessId {
  pid: number;
  /** Clock ticks from boot to the start of the process; null: unknown. */
  startTicks: number | null;
}

/** Field 22 of /proc/<pid>/stat: clock ticks from boot to the start of the process; null: no such process. */
export function startTicks(pid: number): number | null {
  try {
    const stat = readSystemFile(`/proc/${pid}/stat`);
    // The name in field 2 may contain spaces and parentheses; the last parenthesis ends it.
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie no longer holds memory or files: it counts as ended.
    return state === 'Z' || state === 'X' ? null : Number(fields[18]);
  } catch {
    return null;
  }
}

export function thisProcess(): ProcessId {
  return { pid: process.pid, startTicks: startTicks(process.pid) };
}

/** True while the process runs. A later process with the same pid does not count. */
export function isAlive(id: ProcessId): boolean {
  const ticks = startTicks(id.pid);
  return ticks !== null && (id.startTicks === null || ticks === id.startTicks);
}

/** True if any process has this pid. Works without /proc. */
export function pidExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

/** Name in /proc/<pid>/comm; null: it has ended. */
export function processName(pid: number): string | null {
  try {
    return readSystemFile(`/proc/${pid}/comm`).trim();
  } catch {
    return null;
  }
}

/** Names of processes from /proc/<pid>/comm; null: it has ended, or its file did not answer. */
export async function processNames(
  files: KernelFiles,
  pids: readonly number[],
): Promise<ReadonlyMap<number, string | null>> {
  // The command line is not read: that takes the mmap lock of the process, which a wedged process may hold.
  const texts = await files.read(pids.map((pid) => `/proc/${pid}/comm`));
  return new Map(
    pids.map((pid, index) => {
      const comm = texts[index];
      return [pid, typeof comm === 'string' ? comm.trim() : null];
    }),
  );
}

/** Link to the PID namespace of this process. */
const PID_NAMESPACE = '/proc/self/ns/pid';

/**
 * The initial PID namespace, with the same inode on every kernel (PROC_PID_INIT_INO). NVML reports pids of this
 * namespace.
 */
export const FIRST_PID_NAMESPACE = 'pid:[4026531836]';

let namespace: string | null | undefined;

/** "pid:[4026531836]"; null in a sandbox without namespace files. Read once: a process never changes its namespace. */
export function pidNamespace(): string | null {
  if (namespace !== undefined) return namespace;
  try {
    namespace = readlinkSync(PID_NAMESPACE);
  } catch {
    namespace = null;
  }
  return namespace;
}

/** Names of all running processes; null: /proc cannot be listed. A process that ends meanwhile is left out. */
export async function namesOfAllProcesses(files: KernelFiles): Promise<Set<string> | null> {
  const entries = await files.list('/proc');
  if (isFailure(entries)) return null;
  const pids = entries.filter((name) => /^\d+$/.test(name)).map(Number);
  const names = await processNames(files, pids);
  return new Set([...names.values()].filter((name) => name !== null));
}
