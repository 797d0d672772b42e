/** One write to a knob of the kernel, by this process or through sudo, or one line that says who may do it and how. */

import { invalidValue } from '../base/arguments.ts';
import { type Failure, toUmaError, UmaError } from '../base/errors.ts';
import { isFailure } from '../base/facts.ts';
import { executable, type System } from './system.ts';

/** 100 GiB of pools took 0.66 s, and page cache goes at some GB/s; a minute is a machine that has other troubles. */
const WRITE_LIMIT_MS = 60_000;

/** sudo may ask a directory service who this user is. */
const ASK_LIMIT_MS = 10_000;

export const KNOB_PATHS = {
  drop_caches: '/proc/sys/vm/drop_caches',
  compact_memory: '/proc/sys/vm/compact_memory',
} as const;

export interface SysctlWrite {
  by: 'write' | 'sudo';
  durationMs: number;
}

/** Before anything is done: so that a refusal costs nothing, not even a sync. */
export async function mustBeAllowed(machine: System, knob: Sysctl, sudo: boolean): Promise<void> {
  if (sudo && machine.simulated !== null)
    throw invalidValue('sudo', 'false on a simulated machine: sudo would act on this computer', true);
  // Only sudo itself knows what it permits.
  if (sudo && machine.uid !== 0) return mustBePermitted(machine, knob, ASK_LIMIT_MS);
  const why = await machine.mayWrite(KNOB_PATHS[knob.name]);
  if (why !== null) throw notAllowed(machine, knob, why);
}

export async function writeSysctl(machine: System, knob: Sysctl, sudo: boolean): Promise<SysctlWrite> {
  // Root through sudo is root.
  if (sudo && machine.uid !== 0) return { by: 'sudo', ...(await throughSudo(machine, knob, WRITE_LIMIT_MS)) };
  const path = KNOB_PATHS[knob.name];
  const value = String(knob.name === 'drop_caches' ? knob.level : 1);
  const written = await machine.binding.writeFile(path, value, WRITE_LIMIT_MS);
  if (isFailure(written)) throw refused(machine, knob, written);
  return { by: 'write', durationMs: written.durationMs };
}

const RIGHTS: readonly string[] = ['EACCES', 'EPERM', 'EROFS', 'ENOENT'];

function refused(machine: System, knob: Sysctl, failure: Failure): UmaError {
  return failure.source === 'kernel' && RIGHTS.includes(failure.name)
    ? notAllowed(machine, knob, failure.name)
    : toUmaError(failure);
}

/** Why not, that nothing was changed, and what to type where. */
export function notAllowed(machine: System, knob: Sysctl, name: string): UmaError {
  const path = KNOB_PATHS[knob.name];
  return new UmaError(name === 'ENOENT' ? 'ERR_UMA_NOT_SUPPORTED' : 'ERR_UMA_PERMISSION', {
    source: 'kernel',
    call: `write ${path}`,
    status: null,
    name,
    message: why(machine, knob, name),
  });
}

function why(machine: System, knob: Sysctl, name: string): string {
  const sync = knob.name === 'drop_caches' ? 'sync; ' : '';
  const command = `${sync}${rootCommand(knob)}`;
  if (name === 'ENOENT') return 'this kernel does not have the file, or the container hides it';
  if (name === 'EROFS')
    return `/proc/sys is read-only here, as in a container, and root there may not write it either; nothing was changed. On the host run: ${command}`;
  if (machine.simulated !== null)
    return 'the simulated kernel lets only root write it, as a real one does; nothing was changed';
  if (machine.uid === 0)
    return `root of this container or user namespace is not root of the machine; nothing was changed. On the host run: ${command}`;
  return `only root may; nothing was changed. Run: ${command} (or, once umaprobe cache rule is installed: --sudo)`;
}

export const SUDO = '/usr/bin/sudo';

const SYSCTL = ['/usr/sbin/sysctl', '/sbin/sysctl', '/usr/bin/sysctl'] as const;

export type Sysctl = { name: 'drop_caches'; level: 1 | 2 | 3 } | { name: 'compact_memory' };

/** "vm.drop_caches=3": the level is one of the words, because a rule for `tee` could not tell one level from another. */
export function sysctlAssignment(knob: Sysctl): string {
  return knob.name === 'drop_caches' ? `vm.drop_caches=${knob.level}` : 'vm.compact_memory=1';
}

export function findSysctl(there: (path: string) => boolean = executable): string | null {
  return SYSCTL.find(there) ?? null;
}

/** What root types: without umaprobe, so that it holds where umaprobe is installed for one user only. */
export function rootCommand(knob: Sysctl, sysctl = findSysctl()): string {
  return `sudo ${sysctl ?? 'sysctl'} ${sysctlAssignment(knob)}`;
}

/**
 * Asks sudo whether it would run the command, before anything is done for it: a `sync` alone can write for a minute.
 * It may still want a password for it in the end, which only running it tells.
 */
export async function mustBePermitted(machine: System, knob: Sysctl, limitMs: number): Promise<void> {
  await sudo(machine, ['-n', '-l'], knob, limitMs);
}

/** `sudo -n`: it asks for no password, so that nothing waits for a terminal that is not there. */
export async function throughSudo(machine: System, knob: Sysctl, limitMs: number): Promise<{ durationMs: number }> {
  const started = performance.now();
  await sudo(machine, ['-n'], knob, limitMs);
  return { durationMs: performance.now() - started };
}

async function sudo(machine: System, options: readonly string[], knob: Sysctl, limitMs: number): Promise<void> {
  const sysctl = findSysctl();
  const words = `sudo -n ${sysctl ?? 'sysctl'} ${sysctlAssignment(knob)}`;
  if (sysctl === null || !machine.executable(SUDO)) {
    const missing = sysctl === null ? `sysctl is in none of ${SYSCTL.join(', ')}` : `${SUDO} is not there`;
    throw refusal('ERR_UMA_NOT_SUPPORTED', words, 'ENOENT', `${missing}; nothing was changed`);
  }
  const { code, stderr, timedOut } = await machine.run(SUDO, [...options, sysctl, sysctlAssignment(knob)], limitMs);
  if (code === 0) return;
  if (timedOut) throw refusal('ERR_UMA_TIMEOUT', words, 'TIMEOUT', `no end within ${limitMs} ms`);
  const said = stderr.trim().split('\n').at(-1) ?? '';
  // sudo answers 1 for what it does not permit; sysctl, which it started, says who it is.
  const bySysctl = /^(\S*\/)?sysctl:/.test(said);
  // `sudo -l` says nothing about a command that it does not permit.
  const reason = said === '' ? 'sudo does not permit it' : said;
  throw refusal(
    'ERR_UMA_PERMISSION',
    words,
    'EACCES',
    bySysctl
      ? `${said}; nothing was changed. In a container run it on the host`
      : `${reason}; nothing was changed. umaprobe cache rule prints the sudoers line that permits it`,
  );
}

function refusal(code: UmaError['code'], call: string, name: string, message: string): UmaError {
  return new UmaError(code, { source: 'umaprobe', call, status: null, name, message });
}
