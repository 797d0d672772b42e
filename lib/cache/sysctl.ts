/** One write to a knob of the kernel, by this process or through sudo, or one line that says who may do it and how. */
import { invalidValue, toUmaError, UmaError } from '../base/errors.ts';
import { isFailure } from '../base/facts.ts';
import type { NativeFailure } from '../native/contract.ts';
import { type Knob, mustBePermitted, rootCommand, throughSudo } from './sudo.ts';
import type { Machine } from './system.ts';

/** 100 GiB of pools took 0.66 s, and page cache goes at some GB/s; a minute is a machine that has other troubles. */
const WRITE_LIMIT_MS = 60_000;

/** sudo may ask a directory service who this user is. */
const ASK_LIMIT_MS = 10_000;

export const KNOB_PATHS = {
  drop_caches: '/proc/sys/vm/drop_caches',
  compact_memory: '/proc/sys/vm/compact_memory',
} as const;

export interface Turned {
  by: 'write' | 'sudo';
  durationMs: number;
}

/** Before anything is done: so that a refusal costs nothing, not even a sync. */
export async function mustBeAllowed(machine: Machine, knob: Knob, sudo: boolean): Promise<void> {
  if (sudo && machine.simulated !== null)
    throw invalidValue('sudo', 'false on a simulated machine: sudo would act on this computer', true);
  // Only sudo itself knows what it permits.
  if (sudo && machine.uid !== 0) return mustBePermitted(machine, knob, ASK_LIMIT_MS);
  const why = await machine.mayWrite(KNOB_PATHS[knob.name]);
  if (why !== null) throw notAllowed(machine, knob, why);
}

export async function turn(machine: Machine, knob: Knob, sudo: boolean): Promise<Turned> {
  // Root through sudo is root.
  if (sudo && machine.uid !== 0) return { by: 'sudo', ...(await throughSudo(machine, knob, WRITE_LIMIT_MS)) };
  const path = KNOB_PATHS[knob.name];
  const value = String(knob.name === 'drop_caches' ? knob.level : 1);
  const written = await machine.binding.writeFile(path, value, WRITE_LIMIT_MS);
  if (isFailure(written)) throw refused(machine, knob, written);
  return { by: 'write', durationMs: written.durationMs };
}

const RIGHTS: readonly string[] = ['EACCES', 'EPERM', 'EROFS', 'ENOENT'];

function refused(machine: Machine, knob: Knob, failure: NativeFailure): UmaError {
  return failure.source === 'kernel' && RIGHTS.includes(failure.name)
    ? notAllowed(machine, knob, failure.name)
    : toUmaError(failure);
}

/** Why not, that nothing was changed, and what to type where. */
export function notAllowed(machine: Machine, knob: Knob, name: string): UmaError {
  const path = KNOB_PATHS[knob.name];
  return new UmaError(name === 'ENOENT' ? 'ERR_UMA_NOT_SUPPORTED' : 'ERR_UMA_PERMISSION', {
    source: 'kernel',
    call: `write ${path}`,
    status: null,
    name,
    message: why(machine, knob, name),
  });
}

function why(machine: Machine, knob: Knob, name: string): string {
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
