/** The targets of a walk: the caller's paths, or the model stores that exist. No file is covered twice. */

import { resolve } from 'node:path';
import { reason } from '../../base/facts.ts';
import type { CacheTarget, ModelStore } from '../../types/index.ts';
import { findStores, invokingHome } from '../host/model-stores.ts';
import type { NativeCachedFile, NativeWalkBatch } from '../native/contract.ts';
import type { System } from './system.ts';

export interface Target {
  path: string;
  store: ModelStore | null;
}

export interface TargetSelection {
  targets: Target[];
  /** "x lies in y and is counted there". */
  notes: string[];
}

/** @param paths undefined: the model stores. */
export async function selectTargets(
  system: Pick<System, 'env' | 'simulated' | 'resolvePath'>,
  paths: readonly string[] | undefined,
): Promise<TargetSelection> {
  const given = paths?.map((path) => ({ path: resolve(path), store: null }));
  if (given !== undefined) return outermost(system, given);
  if (system.simulated !== null) return { targets: [], notes: [] };
  const stores = (await existingStores(system)).map((store) => ({ path: store.path, store }));
  return outermost(system, stores);
}

/** This user's model stores that exist. */
export function existingStores({ env, resolvePath }: Pick<System, 'env' | 'resolvePath'>): Promise<ModelStore[]> {
  return findStores(env, invokingHome(env), async (path) => {
    const resolved = await resolvePath(path);
    return resolved?.directory === true ? resolved.path : null;
  });
}

/** Removes targets inside another one, whose files would be counted, and evicted, twice. Keeps the order. */
async function outermost(
  { resolvePath }: Pick<System, 'resolvePath'>,
  candidates: readonly Target[],
): Promise<TargetSelection> {
  const resolved: { target: Target; real: string | null }[] = [];
  for (const target of candidates) resolved.push({ target, real: (await resolvePath(target.path))?.path ?? null });
  const trees = new Set(resolved.map(({ real }) => real));
  const targets: Target[] = [];
  const notes: string[] = [];
  const seen = new Set<string>();
  for (const { target, real } of resolved) {
    const outer = real === null ? undefined : parents(real).find((parent) => trees.has(parent));
    if (outer !== undefined) notes.push(`${target.path} lies in ${outer} and is counted there`);
    // A path that does not exist stays a target, even inside another one: the walk reports it.
    else if (real === null || !seen.has(real)) targets.push(target);
    if (real !== null) seen.add(real);
  }
  return { targets, notes };
}

function parents(path: string): string[] {
  const parts = path.split('/').slice(1);
  return parts
    .map((_, depth) => (depth === 0 ? '/' : `/${parts.slice(0, depth).join('/')}`))
    .filter((parent) => parent !== path);
}

/** Problems that a target lists; `problemCount` counts all of them. */
const MAX_LISTED_PROBLEMS = 100;

/** The report of one target, filled while its walk goes on. */
export class TargetTally {
  readonly target: CacheTarget;

  constructor({ path, store }: Target) {
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

  addProblems(entries: readonly NativeCachedFile[]): void {
    const { problems } = this.target;
    for (const { what, path, failure } of entries) {
      if (what !== 'problem' || failure === undefined || problems.length >= MAX_LISTED_PROBLEMS) continue;
      problems.push({ path, reason: reason(failure) });
    }
  }

  /** Takes over the sums of the finished walk. */
  close(last: NativeWalkBatch | null, complete: boolean): void {
    this.target.complete = complete;
    if (last === null) return;
    const visible = showsPages(last);
    Object.assign(this.target, {
      files: last.files,
      bytes: last.bytes,
      cachedBytes: visible ? last.cached : null,
      memoryBytes: visible ? last.memory : null,
      dirtyBytes: visible ? last.dirty : null,
      writebackBytes: visible ? last.writeback : null,
      mappedBytes: visible ? this.target.mappedBytes : null,
      unseenFiles: last.unseen,
      unseenBytes: last.unseenBytes,
      problemCount: last.problems,
      special: last.special,
      links: last.links,
      vanished: last.vanished,
    } satisfies Partial<CacheTarget>);
  }
}

/** True if the sums of a walk say anything: files whose pages are hidden may be cached, so a sum of 0 does not. */
export function showsPages({ cached, unseen }: Pick<NativeWalkBatch, 'cached' | 'unseen'>): boolean {
  return unseen === 0 || cached > 0;
}
