/** The state of this process before Node changed it, as far as it can be told: programs that it starts get that. */

import { readdirSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { systemText } from './system-file.ts';

export interface Inherited {
  /** Descriptors above 2. */
  descriptors: readonly number[];
  /** Soft limit of open files; Node raises its own to the hard one. null: not known. */
  openFiles: number | null;
  /** SIGHUP was ignored, as by nohup(1); Node stops that. */
  ignoresHangup: boolean;
}

const NOTHING: Inherited = { descriptors: [], openFiles: null, ignoresHangup: false };
/** A descriptor beyond it is rare, and the table of a child process is as long. */
const MOST = 1024;

let remembered = NOTHING;

/** Remembers the state in which this process was started. Call it before anything is opened here. */
export function rememberInherited(): void {
  remembered = { descriptors: descriptors(), ...settingsOf(process.ppid) };
}

/** Result of `rememberInherited()`; empty before it. */
export function inherited(): Inherited {
  return remembered;
}

function descriptors(): number[] {
  const links = numbersIn('/proc/self/fd')
    .filter((fd) => fd > 2 && fd < MOST)
    .map((fd) => ({ fd, target: linkOf(fd) }))
    .map(({ fd, target }) => ({ fd, target, mode: target?.startsWith('pipe:') === true ? accessMode(fd) : '' }));
  const parents = new Set(numbersIn(`/proc/${process.ppid}/fd`).map((fd) => linkOf(fd, process.ppid)));
  const isOwn = ({ mode, target }: Link): boolean =>
    // The folder that was listed is closed by now.
    target === null ||
    /^anon_inode:\[?(eventpoll|eventfd|io_uring)/.test(target) ||
    // Node alone has both ends of its pipes; who started it has those of the job server of make.
    (target.startsWith('pipe:') &&
      links.some((other) => other.target === target && other.mode !== mode) &&
      !parents.has(target));
  return links.filter((link) => !isOwn(link)).map(({ fd }) => fd);
}

interface Link {
  fd: number;
  target: string | null;
  mode: string;
}

/** Last digit of the flags: 0 to read, 1 to write, 2 both. */
function accessMode(fd: number): string {
  return /^flags:\s+\d*(\d)$/m.exec(systemText(`/proc/self/fdinfo/${fd}`))?.[1] ?? '';
}

function numbersIn(folder: string): number[] {
  try {
    return readdirSync(folder).map(Number);
  } catch {
    return [];
  }
}

function linkOf(fd: number, pid: number | 'self' = 'self'): string | null {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`);
  } catch {
    return null;
  }
}

/** The process that started this one has what this one would have. */
function settingsOf(parent: number): Pick<Inherited, 'openFiles' | 'ignoresHangup'> {
  // A shell's variable for the command that it runs; nohup(1) leaves it.
  const isNohup = basename(process.env._ ?? '') === 'nohup';
  // The first process of a machine or a container sets the limits of what it starts.
  if (parent <= 1) return { openFiles: null, ignoresHangup: isNohup };
  const soft = /^Max open files +(\d+)/m.exec(systemText(`/proc/${parent}/limits`))?.[1];
  const ignored = /^SigIgn:\s*[0-9a-f]*([0-9a-f])$/m.exec(systemText(`/proc/${parent}/status`))?.[1] ?? '0';
  return {
    openFiles: soft === undefined ? null : Number(soft),
    ignoresHangup: isNohup || (Number.parseInt(ignored, 16) & 1) === 1,
  };
}
