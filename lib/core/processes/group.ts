/** Processes as their user sees them: an engine with its workers, a service, a container. */

import type { ProcessGroup, ProcessMemory, ProcessPool } from '../../types/index.ts';
import type { Owner } from '../host/owner.ts';

/** A process before it has a group. */
export type Loose = Omit<ProcessMemory, 'group'> & { owner: Owner | null };

/**
 * Names of programs that start others and are not part of them: a child of a shell or an init is a tree of its own.
 * Names in /proc/<pid>/comm have at most 15 characters.
 */
const STARTERS = new Set([
  ...`systemd init (sd-pam) login sshd sshd-session su sudo bash zsh fish sh dash tmux screen SCREEN cron crond containerd-shim
    conmon tini dumb-init docker-init runsv supervisord gnome-shell gnome-session-b gnome-terminal- kitty alacritty`.split(
    /\s+/,
  ),
  'tmux: server',
]);

/** Least number of processes of one name under one parent that are a pool. */
const POOL = 2;

/** All processes with their group, and the groups; both with the largest `held` first. */
export function grouped(loose: readonly Loose[]): { processes: ProcessMemory[]; groups: ProcessGroup[] } {
  const byPid = new Map(loose.map((process) => [process.pid, process]));
  const roots = new Map<number, number>();
  const processes = loose.map(({ owner, ...facts }): ProcessMemory & { root: number; owner: Owner | null } => {
    const root = rootOf(facts.pid, byPid, roots);
    return { ...facts, owner, root, group: owner?.id ?? `tree:${root}` };
  });
  processes.sort(byHeld);
  const members = new Map<string, typeof processes>();
  for (const process of processes) {
    const list = members.get(process.group) ?? [];
    list.push(process);
    members.set(process.group, list);
  }
  const groups = [...members].map(([id, list]) => groupOf(id, list, byPid));
  groups.sort((a, b) => b.held - a.held || a.rootPid - b.rootPid);
  return { processes: processes.map(({ owner: _, root: __, ...process }) => process), groups };
}

function byHeld(a: Pick<ProcessMemory, 'held' | 'pid'>, b: Pick<ProcessMemory, 'held' | 'pid'>): number {
  return (b.held ?? 0) - (a.held ?? 0) || a.pid - b.pid;
}

/** The topmost ancestor that is no starter and has the same owner. `known` keeps answers: trees are walked once. */
function rootOf(pid: number, byPid: ReadonlyMap<number, Loose>, known: Map<number, number>): number {
  const path: number[] = [];
  let current = pid;
  let root = known.get(current);
  // A reused pid may close a circle in what was read: a walk visits no process twice.
  const visited = new Set<number>();
  while (root === undefined && !visited.has(current)) {
    visited.add(current);
    path.push(current);
    const process = byPid.get(current);
    const parent = process?.parentPid == null ? undefined : byPid.get(process.parentPid);
    if (parent === undefined || isStarter(parent) || parent.owner?.id !== process?.owner?.id) root = current;
    else if (isStarter(process)) root = current;
    else {
      current = parent.pid;
      root = known.get(current);
    }
  }
  const answer = root ?? pid;
  for (const each of path) known.set(each, answer);
  return answer;
}

function isStarter(process: Loose | undefined): boolean {
  return process !== undefined && (process.pid === 1 || STARTERS.has(process.name ?? ''));
}

type Member = ProcessMemory & { root: number; owner: Owner | null };

function groupOf(id: string, members: readonly Member[], byPid: ReadonlyMap<number, Loose>): ProcessGroup {
  const sum = (name: 'held' | 'anonymous' | 'shared' | 'file' | 'swap') =>
    members.reduce((total, process) => total + (process[name] ?? 0), 0);
  const [first] = members as [Member];
  const pids = new Set(members.map(({ pid }) => pid));
  const top = members
    .filter(({ parentPid }) => parentPid === null || !pids.has(parentPid))
    .sort((a, b) => a.pid - b.pid);
  const rootPid = first.owner === null ? first.root : (top[0] ?? first).pid;
  const proportional = (name: 'anonymous' | 'shared' | 'file') =>
    members.reduce((total, process) => total + (process.pss?.[name] ?? process[name] ?? 0), 0);
  const known = members.filter(({ gpuBytes }) => gpuBytes !== null);
  return {
    id,
    kind: first.owner?.kind ?? 'tree',
    name: first.owner?.name ?? byPid.get(rootPid)?.name ?? String(rootPid),
    rootPid,
    pids: members.map(({ pid }) => pid),
    held: sum('held'),
    exact: isExact(members),
    anonymous: proportional('anonymous'),
    shared: proportional('shared'),
    file: proportional('file'),
    swap: sum('swap'),
    gpuBytes:
      known.length === members.length ? known.reduce((total, { gpuBytes }) => total + (gpuBytes ?? 0), 0) : null,
    pools: poolsOf(members),
  };
}

/** Share of a group's memory that may come from RSS before its sum is called an upper bound. */
const TOLERANCE = 0.01;

function isExact(members: readonly Member[]): boolean {
  const sum = (list: readonly Member[]) => list.reduce((total, { held }) => total + (held ?? 0), 0);
  return sum(members.filter(({ heldFrom }) => heldFrom === 'rss')) <= TOLERANCE * sum(members);
}

/** Children of one parent with one name, the largest pool first. */
function poolsOf(members: readonly Member[]): ProcessPool[] {
  const pools = new Map<string, ProcessPool>();
  for (const { held, name, parentPid, pid } of members) {
    if (parentPid === null || name === null) continue;
    const key = `${parentPid} ${name}`;
    const pool = pools.get(key) ?? { name, parentPid, pids: [], held: 0 };
    pool.pids.push(pid);
    pool.held += held ?? 0;
    pools.set(key, pool);
  }
  const parents = new Set(members.map(({ pid }) => pid));
  return [...pools.values()]
    .filter(({ parentPid, pids }) => pids.length >= POOL && parents.has(parentPid))
    .sort((a, b) => b.held - a.held);
}
