/** Order of units and containers that `guard --system` may stop, never those that keep the machine usable. */

import { checkChoice, checkKeys, invalidType, invalidValue, type Keys } from '../../base/arguments.ts';
import type { GuardPolicy, ProcessesReport, ProcessGroup } from '../../types/index.ts';
import { NEVER_STOPPED, type NeverStopped } from './never-stopped.ts';

const KEYS: Keys<GuardPolicy> = { schema: true, mayStop: true, never: true, order: true };
const SCHEMA = 'umaprobe/guard-policy/1';

/** Names of processes whose unit or container belongs to the row. */
function processNames({ alsoContainers, processes = [] }: NeverStopped, kind: ProcessGroup['kind']): readonly string[] {
  // A container may have a sshd or a dbus-daemon of its own.
  return kind === 'container' && alsoContainers !== true ? [] : processes;
}

/** The row of NEVER_STOPPED to which a unit or container belongs. */
function neverStopped(
  { id, kind, name, pids }: Pick<ProcessGroup, 'id' | 'kind' | 'name' | 'pids'>,
  names: ReadonlyMap<number, string | null>,
): NeverStopped | undefined {
  return NEVER_STOPPED.find(
    (row) =>
      pids.some((pid) => processNames(row, kind).includes(names.get(pid) ?? '')) || rank(row.units, id, name) !== null,
  );
}

/**
 * The reason not to stop a process, whoever asks, as a clause; null: none. Its unit or container is judged as a whole,
 * as by `guard --system`; a program of a login session by itself and its descendants.
 */
export function whyNeverStopped(
  pid: number,
  { groups, processes }: Pick<ProcessesReport, 'groups' | 'processes'>,
): string | null {
  const names = new Map(processes.map((process) => [process.pid, process.name]));
  const group = groups.find(({ pids }) => pids.includes(pid));
  if (group !== undefined && group.kind !== 'tree') {
    const row = neverStopped(group, names);
    if (row !== undefined) return `${group.name} is never stopped (${row.what})`;
  }
  const pids = [pid, ...descendants(pid, processes)];
  for (const each of pids) {
    const name = names.get(each) ?? '';
    const kind = groups.find((one) => one.pids.includes(each))?.kind ?? 'tree';
    const row = NEVER_STOPPED.find((one) => processNames(one, kind).includes(name));
    if (row !== undefined)
      return each === pid
        ? `${name} is never stopped (${row.what})`
        : `${name} (${each}) runs below it and is never stopped`;
  }
  return null;
}

function descendants(pid: number, processes: ProcessesReport['processes']): number[] {
  const found = new Set([pid]);
  // A set is walked to its end, also to entries added meanwhile.
  for (const parent of found) for (const child of processes) if (child.parentPid === parent) found.add(child.pid);
  return [...found].slice(1);
}

/** @throws TypeError for an unknown key or a wrong value. */
export function checkPolicy(value: unknown): GuardPolicy {
  checkKeys('policy', value, KEYS);
  const policy = value as GuardPolicy;
  if (policy.schema !== undefined && policy.schema !== SCHEMA) throw invalidValue('schema', SCHEMA, policy.schema);
  checkNames('mayStop', policy.mayStop);
  checkNames('never', policy.never);
  if (policy.order !== undefined) checkChoice('order', ['gpu', 'memory', 'listed'], policy.order);
  return policy;
}

function checkNames(name: string, value: unknown): void {
  if (value === undefined) return;
  if (!Array.isArray(value)) throw invalidType(name, 'an array of names, such as ["vllm*.service"]', value);
  for (const [index, entry] of (value as readonly unknown[]).entries()) {
    if (typeof entry !== 'string') throw invalidType(`${name}[${index}]`, 'a name, such as "vllm*.service"', entry);
    if (!/^[\w:.@*\\-]{1,255}$/.test(entry))
      throw invalidValue(`${name}[${index}]`, 'a name, such as "vllm*.service"', entry);
  }
}

/** A unit or container that may be stopped. */
export type StopCandidate = Pick<ProcessGroup, 'kind' | 'id' | 'name' | 'rootPid' | 'gpuBytes' | 'held'>;

/**
 * Units that may be stopped, in order. Without `mayStop`: every unit and container with GPU memory; if that is the
 * GPU's own, the largest holder of the host's memory among them is the first. Programs of a login session are in no
 * unit of their own, and never among them.
 *
 * @param self pid of this process: its own unit is never stopped.
 */
export function candidates(
  { groups, memoryModel, processes }: Pick<ProcessesReport, 'groups' | 'memoryModel' | 'processes'>,
  policy: GuardPolicy,
  self: number,
): StopCandidate[] {
  const names = new Map(processes.map(({ name, pid }) => [pid, name]));
  const { never = [] } = policy;
  const allowed = groups.filter(
    (group) =>
      group.kind !== 'tree' &&
      !group.pids.includes(self) &&
      neverStopped(group, names) === undefined &&
      rank(never, group.id, group.name) === null &&
      (policy.mayStop === undefined ? (group.gpuBytes ?? 0) > 0 : rank(policy.mayStop, group.id, group.name) !== null),
  );
  const listed = ({ id, name }: ProcessGroup): number => rank(policy.mayStop ?? [], id, name) ?? 0;
  // Memory that a GPU has of its own gives the host nothing back.
  const isOwn = memoryModel === 'discrete' || memoryModel === 'coherent';
  const gpu = ({ gpuBytes }: ProcessGroup): number => (isOwn ? 0 : (gpuBytes ?? 0));
  const { order = 'gpu' } = policy;
  return allowed.sort((a, b) => {
    if (order === 'listed' && listed(a) !== listed(b)) return listed(a) - listed(b);
    if (order !== 'memory' && gpu(a) !== gpu(b)) return gpu(b) - gpu(a);
    return b.held + gpu(b) - (a.held + gpu(a));
  });
}

/** Place of the first pattern that the id matches, or the name, of a unit also without `.service`; null: none does. */
function rank(patterns: readonly string[], id: string, name: string): number | null {
  const names = [name, id, name.replace(/\.service$/, '')];
  const place = patterns.findIndex((pattern) => names.some((text) => matches(pattern, text)));
  return place === -1 ? null : place;
}

/** `*` stands for any characters. */
function matches(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return pattern === text;
  if (!text.startsWith(first)) return false;
  let from = first.length;
  const last = rest.pop() ?? '';
  for (const part of rest) {
    const at = text.indexOf(part, from);
    if (at === -1) return false;
    from = at + part.length;
  }
  return text.length - last.length >= from && text.endsWith(last);
}
