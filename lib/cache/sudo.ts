/** The one command that `--sudo` runs, and that a sudoers rule permits: fixed words, absolute paths, no shell. */
import { accessSync, constants } from 'node:fs';
import { UmaError } from '../base/errors.ts';
import type { Machine } from './system.ts';

export const SUDO = '/usr/bin/sudo';
const SYSCTL = ['/usr/sbin/sysctl', '/sbin/sysctl', '/usr/bin/sysctl'] as const;

export type Knob = { name: 'drop_caches'; level: 1 | 2 | 3 } | { name: 'compact_memory' };

/** "vm.drop_caches=3": the level is one of the words, because a rule for `tee` could not tell one level from another. */
export function sysctlWord(knob: Knob): string {
  return knob.name === 'drop_caches' ? `vm.drop_caches=${knob.level}` : 'vm.compact_memory=1';
}

export function findSysctl(there: (path: string) => boolean = executable): string | null {
  return SYSCTL.find(there) ?? null;
}

/** What root types: without umaprobe, so that it holds where umaprobe is installed for one user only. */
export function rootCommand(knob: Knob, sysctl = findSysctl()): string {
  return `sudo ${sysctl ?? 'sysctl'} ${sysctlWord(knob)}`;
}

/**
 * Asks sudo whether it would run the command, before anything is done for it: a `sync` alone can write for a minute.
 * It may still want a password for it in the end, which only running it tells.
 */
export async function mustBePermitted(machine: Machine, knob: Knob, limitMs: number): Promise<void> {
  await sudo(machine, ['-n', '-l'], knob, limitMs);
}

/** `sudo -n`: it asks for no password, so that nothing waits for a terminal that is not there. */
export async function throughSudo(machine: Machine, knob: Knob, limitMs: number): Promise<{ durationMs: number }> {
  const started = performance.now();
  await sudo(machine, ['-n'], knob, limitMs);
  return { durationMs: performance.now() - started };
}

async function sudo(machine: Machine, options: readonly string[], knob: Knob, limitMs: number): Promise<void> {
  const sysctl = findSysctl();
  const words = `sudo -n ${sysctl ?? 'sysctl'} ${sysctlWord(knob)}`;
  if (sysctl === null || !machine.executable(SUDO)) {
    const missing = sysctl === null ? `sysctl is in none of ${SYSCTL.join(', ')}` : `${SUDO} is not there`;
    throw refusal('ERR_UMA_NOT_SUPPORTED', words, 'ENOENT', `${missing}; nothing was changed`);
  }
  const { code, stderr, timedOut } = await machine.run(SUDO, [...options, sysctl, sysctlWord(knob)], limitMs);
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

export function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
