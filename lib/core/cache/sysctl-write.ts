/** Writes a sysctl, directly or through sudo. If that is not permitted, the error has the command to run. */

import { invalidValue } from '../../base/arguments.ts';
import { type Failure, toUmaError, UmaError } from '../../base/errors.ts';
import { isFailure } from '../../base/facts.ts';
import { SYSTEM_FOLDERS } from '../../base/system-program.ts';
import { findSysctl, rootCommand, SYSCTL_PATHS, type Sysctl, sysctlAssignment, sysctlValue } from './sysctl.ts';
import type { System } from './system.ts';

/** Freeing 100 GiB of driver pools took 0.66 s, and page cache is dropped at several GB/s: a longer write hangs. */
const WRITE_LIMIT_MS = 60_000;

/** sudo may look the user up in a directory service. */
const PERMISSION_LIMIT_MS = 10_000;

const SUDO = '/usr/bin/sudo';

export interface SysctlWrite {
  by: 'write' | 'sudo';
  durationMs: number;
}

/** Call before any other work: a refusal must not cost a sync, which can write for a minute. */
export async function assertMayWrite(system: System, sysctl: Sysctl, sudo: boolean): Promise<void> {
  if (sudo && system.simulated !== null)
    throw invalidValue('sudo', 'false on a simulated machine: sudo would act on this computer', true);
  // Only sudo knows what it permits. It may still ask for a password, which shows only when the command is run.
  if (needsSudo(system, sudo)) return runSudo(system, ['-n', '-l'], sysctl, PERMISSION_LIMIT_MS);
  const errno = await system.mayWrite(SYSCTL_PATHS[sysctl.name]);
  if (errno !== null) throw notPermitted(system, sysctl, errno);
}

export async function writeSysctl(system: System, sysctl: Sysctl, sudo: boolean): Promise<SysctlWrite> {
  if (needsSudo(system, sudo)) {
    const started = performance.now();
    // -n: sudo must not wait for a password when there is no terminal.
    await runSudo(system, ['-n'], sysctl, WRITE_LIMIT_MS);
    return { by: 'sudo', durationMs: performance.now() - started };
  }
  const written = await system.binding.writeFile(SYSCTL_PATHS[sysctl.name], sysctlValue(sysctl), WRITE_LIMIT_MS);
  if (isFailure(written)) throw writeError(system, sysctl, written);
  return { by: 'write', durationMs: written.durationMs };
}

/** Root needs no sudo. */
function needsSudo({ uid }: System, sudo: boolean): boolean {
  return sudo && uid !== 0;
}

const PERMISSION_ERRNOS: readonly string[] = ['EACCES', 'EPERM', 'EROFS', 'ENOENT'];

function writeError(system: System, sysctl: Sysctl, failure: Failure): UmaError {
  return failure.source === 'kernel' && PERMISSION_ERRNOS.includes(failure.name)
    ? notPermitted(system, sysctl, failure.name)
    : toUmaError(failure);
}

/** The message says why, that nothing was changed, and which command to run where. */
function notPermitted(system: System, sysctl: Sysctl, errno: string): UmaError {
  return new UmaError(errno === 'ENOENT' ? 'ERR_UMA_NOT_SUPPORTED' : 'ERR_UMA_PERMISSION', {
    source: 'kernel',
    call: `write ${SYSCTL_PATHS[sysctl.name]}`,
    status: null,
    name: errno,
    message: permissionMessage(system, sysctl, errno),
  });
}

function permissionMessage({ simulated, uid }: System, sysctl: Sysctl, errno: string): string {
  const sync = sysctl.name === 'drop_caches' ? 'sync; ' : '';
  const command = `${sync}${rootCommand(sysctl)}`;
  if (errno === 'ENOENT') return 'this kernel does not have the file, or the container hides it';
  if (errno === 'EROFS')
    return `/proc/sys is read-only here, as in a container, and even root may not write it; nothing was changed. On the host run: ${command}`;
  if (simulated !== null) return 'the simulated kernel lets only root write it, like a real one; nothing was changed';
  if (uid === 0)
    return `root of this container or user namespace is not root of the machine; nothing was changed. On the host run: ${command}`;
  return `only root may write it; nothing was changed. Run: ${command} (or, once umaprobe cache rule is installed: --sudo)`;
}

async function runSudo(system: System, options: readonly string[], sysctl: Sysctl, limitMs: number): Promise<void> {
  const program = findSysctl();
  const assignment = sysctlAssignment(sysctl);
  const call = `sudo -n ${program ?? 'sysctl'} ${assignment}`;
  if (program === null || !system.executable(SUDO)) {
    const missing = program === null ? `sysctl is in none of ${SYSTEM_FOLDERS}` : `${SUDO} is not installed`;
    throw sudoError('ERR_UMA_NOT_SUPPORTED', call, 'ENOENT', `${missing}; nothing was changed`);
  }
  const { code, stderr, timedOut } = await system.run(SUDO, [...options, program, assignment], limitMs);
  if (code === 0) return;
  if (timedOut) throw sudoError('ERR_UMA_TIMEOUT', call, 'TIMEOUT', `it did not exit within ${limitMs} ms`);
  throw sudoError('ERR_UMA_PERMISSION', call, 'EACCES', sudoMessage(stderr.trim().split('\n').at(-1) ?? ''));
}

/** sudo exits with 1 for every refusal: only the text says whether sudo refused, or sysctl, which sudo had started. */
function sudoMessage(lastLine: string): string {
  if (/^(\S*\/)?sysctl:/.test(lastLine)) return `${lastLine}; nothing was changed. In a container run it on the host`;
  // `sudo -l` prints nothing about a command that it does not permit.
  const refusal = lastLine === '' ? 'sudo does not permit it' : lastLine;
  return `${refusal}; nothing was changed. umaprobe cache rule prints the sudoers line that permits it`;
}

function sudoError(code: UmaError['code'], call: string, name: string, message: string): UmaError {
  return new UmaError(code, { source: 'umaprobe', call, status: null, name, message });
}
