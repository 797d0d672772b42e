/** Targets that would take the machine, the kernel or the guard itself with them. */

import { invalidArgument } from '../../base/arguments.ts';
import { systemText } from '../../base/system-file.ts';

const INSTEAD = 'Name what may be stopped, such as --unit vllm.service';
/** PF_KTHREAD of the kernel's include/linux/sched.h. */
const KERNEL_THREAD = 0x0020_0000;

/** @throws TypeError `ERR_INVALID_ARG_VALUE` for init, a thread of the kernel, umaprobe itself and its ancestors. */
export function checkTargetPid(pid: number): void {
  const why = refusedPid(pid);
  if (why !== null) throw invalidArgument(`process ${pid} cannot be guarded: ${why}. ${INSTEAD}`);
}

/** The reason why stopping this process takes more with it than its memory, as a clause; null: it does not. */
export function refusedPid(pid: number): string | null {
  if (pid === 1) return 'everything else runs below it, and stopping it stops the machine or the container';
  if (pid === process.pid) return 'it is umaprobe itself';
  if (((statOf(pid)?.flags ?? 0) & KERNEL_THREAD) !== 0)
    return 'it is a thread of the kernel, which no signal ends, and holds no memory of its own';
  return ancestors().includes(pid) ? 'umaprobe runs below it, and would be stopped with it' : null;
}

/** @throws TypeError `ERR_INVALID_ARG_VALUE` for a cgroup that contains init or umaprobe itself. `path` is without a slash at its end. */
export function checkTargetCgroup(path: string): void {
  const why = refusedCgroup(path);
  if (why !== null) throw invalidArgument(`cgroup ${path || '/'} cannot be guarded: ${why}. ${INSTEAD}`);
}

function refusedCgroup(path: string): string | null {
  if (path === '') return 'it has every process of the machine or the container';
  if (contains(path, 'self')) return 'umaprobe runs in it, and would be stopped with it';
  return contains(path, '1') ? 'process 1 is in it, and everything else runs below that' : null;
}

function contains(path: string, process: string): boolean {
  const of = /^0::(.*)$/m.exec(systemText(`/proc/${process}/cgroup`))?.[1];
  return of !== undefined && `${of}/`.startsWith(`${path}/`);
}

/** This process's parent, that one's, and so on. */
function ancestors(): number[] {
  const found: number[] = [];
  for (let pid = process.ppid; pid > 1 && !found.includes(pid); pid = statOf(pid)?.parent ?? 0) found.push(pid);
  return found;
}

function statOf(pid: number): { parent: number; flags: number } | null {
  const text = systemText(`/proc/${pid}/stat`);
  // The name in field 2 may contain spaces and parentheses; the last parenthesis ends it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return text === '' ? null : { parent: Number(fields[1]), flags: Number(fields[6]) };
}
