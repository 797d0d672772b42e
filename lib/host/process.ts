/** Processes: who they are, whether they still run, and in which PID namespace their numbers mean something. */

import { readFileSync, readlinkSync } from 'node:fs';
import { isFailure } from '../base/facts.ts';
import type { NativeBinding } from '../native/contract.ts';

/** A process, told from a later one with the same number by when it started. */
export interface ProcessId {
  pid: number;
  /** Clock ticks from boot to the start of the process; null: not known. */
  startTicks: number | null;
}

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

export function thisProcess(): ProcessId {
  return { pid: process.pid, startTicks: startTicks(process.pid) };
}

/** Whether this very process still runs: a later process with the same pid does not count. */
export function isAlive(id: ProcessId): boolean {
  const now = startTicks(id.pid);
  return now !== null && (id.startTicks === null || now === id.startTicks);
}

/** Whether the pid is in use, by anyone: also where /proc is not mounted. */
export function pidExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process runs and is someone else's.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

/**
 * Name of a process in /proc/<pid>/comm; null: it has ended. Not the command line: reading that takes the process's mmap
 * lock, which a wedged process may hold.
 */
export function processName(binding: NativeBinding, pid: number): string | null {
  const [comm] = binding.readFiles([`/proc/${pid}/comm`]);
  return comm === undefined || isFailure(comm) ? null : comm.trim();
}

/** The link that names the PID namespace of this process. */
export const PID_NAMESPACE = '/proc/self/ns/pid';
/** The namespace that a machine boots with: this inode on every kernel (PROC_PID_INIT_INO). NVML's pids belong to it. */
export const FIRST_PID_NAMESPACE = 'pid:[4026531836]';

let namespace: string | null | undefined;

/** "pid:[4026531836]"; null in a sandbox without namespace files. A process keeps its namespace for its life. */
export function pidNamespace(): string | null {
  if (namespace !== undefined) return namespace;
  try {
    namespace = readlinkSync(PID_NAMESPACE);
  } catch {
    namespace = null;
  }
  return namespace;
}
