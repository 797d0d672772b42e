/** What is looked at: the paths that were named, or the model stores that are there; nothing twice. */
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { reason } from '../base/facts.ts';
import { invokingHome } from '../models/stores.ts';
import type { NativeCachedFile, NativeWalkBatch } from '../native/contract.ts';
import type { CacheTarget, ModelStore } from '../types/index.ts';
import type { System } from './system.ts';

export interface Wanted {
  path: string;
  store: ModelStore | null;
}

export interface Chosen {
  targets: Wanted[];
  /** "x lies in y and is counted there". */
  notes: string[];
}

/** @param paths undefined: the model stores. */
export async function chooseTargets(
  machine: Pick<System, 'env' | 'simulated'>,
  paths: readonly string[] | undefined,
): Promise<Chosen> {
  if (paths !== undefined) return outermost(paths.map((path) => ({ path: resolve(path), store: null })));
  if (machine.simulated !== null) return { targets: [], notes: [] };
  const { findStores } = await import('../models/stores.ts');
  const stores = await findStores(machine.env, invokingHome(machine.env));
  return outermost(stores.map((store) => ({ path: store.path, store })));
}

/** Without those that lie inside another: their files would be counted, and evicted, twice. Keeps the order. */
async function outermost(wanted: readonly Wanted[]): Promise<Chosen> {
  const all: { one: Wanted; real: string | null }[] = [];
  for (const one of wanted) all.push({ one, real: await realpath(one.path).catch(() => null) });
  const trees = new Set(all.map(({ real }) => real));
  const targets: Wanted[] = [];
  const notes: string[] = [];
  const taken = new Set<string>();
  for (const { one, real } of all) {
    const above = real === null ? undefined : parents(real).find((parent) => trees.has(parent));
    if (above !== undefined) notes.push(`${one.path} lies in ${above} and is counted there`);
    // A path that is not there is the walk's to tell, also where the folder above it was named.
    else if (real === null || !taken.has(real)) targets.push(one);
    if (real !== null) taken.add(real);
  }
  return { targets, notes };
}

function parents(path: string): string[] {
  const parts = path.split('/').slice(1);
  return parts
    .map((_, depth) => (depth === 0 ? '/' : `/${parts.slice(0, depth).join('/')}`))
    .filter((one) => one !== path);
}

/** How many problems a target lists; their number is complete. */
const LISTED_PROBLEMS = 100;

/** A target that fills as its walk goes on. */
export class Tally {
  readonly target: CacheTarget;

  constructor({ path, store }: Wanted) {
    this.target = {
      path,
      store,
      files: 0,
      bytes: 0,
      cachedBytes: 0,
      memoryBytes: 0,
      dirtyBytes: null,
      writebackBytes: null,
      mappedBytes: 0,
      unseenFiles: 0,
      unseenBytes: 0,
      problems: [],
      problemCount: 0,
      special: 0,
      links: 0,
      vanished: 0,
      complete: false,
    };
  }

  problems(entries: readonly NativeCachedFile[]): void {
    for (const { what, path, failure } of entries) {
      if (what !== 'problem' || failure === undefined || this.target.problems.length >= LISTED_PROBLEMS) continue;
      this.target.problems.push({ path, reason: reason(failure) });
    }
  }

  /** The sums of the walk, when it has ended. */
  close(last: NativeWalkBatch | null, complete: boolean): void {
    this.target.complete = complete;
    if (last === null) return;
    Object.assign(this.target, {
      files: last.files,
      bytes: last.bytes,
      cachedBytes: last.cached,
      memoryBytes: last.memory,
      dirtyBytes: last.dirty,
      writebackBytes: last.writeback,
      unseenFiles: last.unseen,
      unseenBytes: last.unseenBytes,
      problemCount: last.problems,
      special: last.special,
      links: last.links,
      vanished: last.vanished,
    } satisfies Partial<CacheTarget>);
  }
}
