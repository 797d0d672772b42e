/** Targets that run already: a process, a cgroup, or a unit of systemd, as the native guard takes it. */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { UmaError } from '../../base/errors.ts';
import { SYSTEM_FOLDERS, systemProgram } from '../../base/system-program.ts';
import { pidExists } from '../../core/host/process.ts';
import type { GuardTarget } from '../../types/index.ts';
import { checkTargetCgroup, checkTargetPid } from './refusals.ts';

/** Mount points of cgroup v2: alone, or beside v1. */
const MOUNTS = ['/sys/fs/cgroup/unified', '/sys/fs/cgroup'];

/**
 * `target` of the native guard.
 *
 * @throws UmaError ERR_UMA_NOT_FOUND.
 */
export function targetArgument(target: GuardTarget): string {
  if ('system' in target) return 'system';
  if ('pid' in target) {
    if (!pidExists(target.pid)) throw notFound(`process ${target.pid}`, 'there is no such process');
    checkTargetPid(target.pid);
    return `pid:${target.pid}`;
  }
  const cgroup = 'unit' in target ? cgroupOf(target.unit) : pathBelowRoot(target.cgroup);
  checkTargetCgroup(cgroup);
  if (!MOUNTS.some((mount) => existsSync(posix.join(mount, cgroup, 'cgroup.procs'))))
    throw notFound(`cgroup ${cgroup}`, `there is no ${posix.join('/sys/fs/cgroup', cgroup)} of cgroup v2`);
  return `cgroup:${cgroup}`;
}

/** "/system.slice/vllm.service", also of a path of the file system. */
function pathBelowRoot(path: string): string {
  const mount = MOUNTS.find((folder) => path.startsWith(`${folder}/`)) ?? '';
  return posix.normalize(path.slice(mount.length)).replace(/\/$/, '');
}

/** The cgroup of a unit that runs. */
function cgroupOf(unit: string): string {
  const program = systemProgram('systemctl');
  if (program === null) throw notFound(`unit ${unit}`, `systemctl is in none of ${SYSTEM_FOLDERS}`);
  const { error, stderr, stdout } = spawnSync(
    program,
    ['show', '--property=ControlGroup', '--value', '--', unit.includes('.') ? unit : `${unit}.service`],
    { encoding: 'utf8', timeout: 5000 },
  );
  const path = (stdout ?? '').trim();
  if (path !== '') return path;
  const why = error?.message ?? (stderr.trim() === '' ? 'it does not run' : stderr.trim().split('\n')[0]);
  throw notFound(`unit ${unit}`, `systemd has no cgroup for it: ${why}`);
}

function notFound(call: string, message: string): UmaError {
  return new UmaError('ERR_UMA_NOT_FOUND', { source: 'kernel', call, status: null, name: 'ENOENT', message });
}
