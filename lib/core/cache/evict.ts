/** Takes files out of the page cache, without root. Pages that are not on disk yet stay. */

import { inBatches } from '../../base/event-loop.ts';
import { reason } from '../../base/facts.ts';
import { checkOptions } from '../../base/options.ts';
import type { EvictedFile, EvictReport } from '../../types/index.ts';
import type { NativeCachedFile, NativeWalkBatch, NativeWalkOptions } from '../native/contract.ts';
import { type Inode, inodePairs } from './inodes.ts';
import { LargestN } from './largest.ts';
import { type Mapper, mapperList, mappingsOf } from './mappings.ts';
import { checkPaths, EVICT, type EvictOptions } from './options.ts';
import { findEvictable } from './prepare/evictable.ts';
import { currentCounters, receipt } from './receipt.ts';
import { assertHasFiles, type System } from './system.ts';
import { selectTargets, showsPages, type Target, TargetTally } from './targets.ts';
import { FILES_PER_BATCH, type WalkHooks, walk } from './walk.ts';

/** Batch size: passing 1,000 paths to the binary takes about 1 ms. */
const PATHS_PER_WALK = 1000;

type WalkedFile = NativeCachedFile & Inode;

export async function evict(system: System, paths: readonly string[], given: EvictOptions): Promise<EvictReport> {
  checkPaths('paths', paths);
  const { top, sync, signal, onEvent } = checkOptions('evictFiles()', given, EVICT);
  const started = performance.now();
  const at = new Date().toISOString();
  assertHasFiles(system, 'cache evict');
  const before = await currentCounters(system);
  const { targets } = await selectTargets(system, paths);
  const sums = new EvictionSums();
  const largest = new LargestN<WalkedFile>(top, ({ cached = 0 }) => cached);
  const retained: WalkedFile[] = [];
  const tallies: TargetTally[] = [];
  for (const target of targets) {
    const tally = new TargetTally(target);
    tallies.push(tally);
    const options = { mode: sync ? 'evict-sync' : 'evict', listEmpty: false, top } as const;
    await evictTarget(system, target, options, tally, sums, { signal, onEvent }, (file) => {
      largest.add(file);
      if (isRetained(file)) retained.push(file);
    });
  }
  const mappings = await mappingsOf(system.binding, await inodePairs(retained));
  const reasonFor = (file: WalkedFile) => retainedReason(file, mappings.of(file), mappings.unreadable);
  const stayedBy: EvictReport['stayedBy'] = { mapped: 0, dirty: 0, locked: 0, memory: 0, other: 0 };
  await inBatches(retained, FILES_PER_BATCH, (file) => {
    stayedBy[reasonFor(file).cause] += file.cachedAfter ?? 0;
  });
  const after = await currentCounters(system);
  const files: EvictedFile[] = [];
  await inBatches(largest.take(), FILES_PER_BATCH, (file) => {
    files.push(evictedFile(file, mappings.of(file), isRetained(file) ? reasonFor(file) : null));
  });
  return {
    schema: 'umaprobe/cache-evict/1',
    at,
    simulated: system.simulated,
    state: sums.complete ? 'complete' : 'aborted',
    targets: tallies.map(({ target }) => target),
    files,
    evictedBytes: sums.isVisible ? sums.evictedBytes : null,
    stayedBytes: sums.isVisible ? sums.retainedBytes : null,
    unseenFiles: sums.unseenFiles,
    unseenBytes: sums.unseenBytes,
    stayedBy,
    syncMs: sums.syncMs,
    receipt: receipt(before, after),
    durationMs: performance.now() - started,
  };
}

/** Evicts the files in this order until `hooks.enough`, and returns the bytes that left the cache. */
export async function evictUntil({ binding }: System, paths: readonly string[], hooks: WalkHooks): Promise<number> {
  const options = { mode: 'evict', listEmpty: false, top: 0 } as const;
  let evictedBytes = 0;
  for (let from = 0; from < paths.length; from += PATHS_PER_WALK) {
    const batch = paths.slice(from, from + PATHS_PER_WALK);
    const { last, complete } = await walk(binding, batch, options, hooks, () => undefined);
    if (last !== null) evictedBytes += last.cached - last.cachedAfter;
    if (!complete || (await hooks.enough?.()) === true) break;
  }
  return evictedBytes;
}

export interface RetainedReason {
  cause: keyof EvictReport['stayedBy'];
  text: string;
}

/**
 * Returns why pages of a file stayed in the cache.
 *
 * @param file as the walk reported it.
 * @param unreadable number of processes whose mappings cannot be read.
 */
export function retainedReason(file: NativeCachedFile, mappers: readonly Mapper[], unreadable: number): RetainedReason {
  if (file.memory === true)
    return { cause: 'memory', text: 'the file system lives in memory (tmpfs): the pages are the file itself' };
  if (file.failure !== undefined) return { cause: 'other', text: reason(file.failure) };
  const processes = mapperList(mappers);
  if (mappers.some(({ locked }) => locked)) return { cause: 'locked', text: `locked in memory by ${processes}` };
  if (mappers.length > 0) return { cause: 'mapped', text: `mapped by ${processes}` };
  if ((file.dirty ?? 0) > 0) return { cause: 'dirty', text: 'dirty: not written to disk yet; --sync writes it first' };
  if ((file.writeback ?? 0) > 0) return { cause: 'dirty', text: 'being written to disk at this moment' };
  const others =
    unreadable > 0 ? `, or mapped by one of ${unreadable} processes of other users whose mappings cannot be read` : '';
  return { cause: 'other', text: `in use at this moment (being read or written)${others}` };
}

/** The sums over all targets of an eviction. */
class EvictionSums {
  evictedBytes = 0;
  retainedBytes = 0;
  syncMs = 0;
  unseenFiles = 0;
  unseenBytes = 0;
  complete = true;

  get isVisible(): boolean {
    return showsPages({ cached: this.evictedBytes + this.retainedBytes, unseen: this.unseenFiles });
  }

  add(last: NativeWalkBatch | null, complete: boolean): void {
    this.complete &&= complete;
    if (last === null) return;
    this.evictedBytes += last.cached - last.cachedAfter;
    this.retainedBytes += last.cachedAfter;
    this.syncMs += last.syncMs;
    this.unseenFiles += last.unseen;
    this.unseenBytes += last.unseenBytes;
  }
}

async function evictTarget(
  { binding }: System,
  { path }: Target,
  options: NativeWalkOptions,
  tally: TargetTally,
  sums: EvictionSums,
  hooks: WalkHooks,
  onFile: (file: WalkedFile) => void,
): Promise<void> {
  const { last, complete } = await walk(binding, [path], options, hooks, ({ entries }) => {
    tally.addProblems(entries);
    for (const entry of entries) {
      const { what, dev, ino, cached = 0 } = entry;
      if (what === 'file' && dev !== undefined && ino !== undefined && cached > 0) onFile({ ...entry, dev, ino });
    }
  });
  tally.close(last, complete);
  sums.add(last, complete);
}

function isRetained({ cachedAfter = 0 }: NativeCachedFile): boolean {
  return cachedAfter > 0;
}

function evictedFile(
  { path, cached = 0, cachedAfter = cached }: NativeCachedFile,
  mappedBy: Mapper[],
  retainedFor: RetainedReason | null,
): EvictedFile {
  return {
    path,
    cachedBefore: cached,
    cachedAfter,
    evictedBytes: cached - cachedAfter,
    stayed: retainedFor?.text ?? null,
    mappedBy,
  };
}

/** Evicts model files that no process has mapped, the largest first, while less than `bytes` is free. `free`: MemFree afterwards. */
export async function keepFree(
  system: System,
  bytes: number,
  signal: AbortSignal,
): Promise<{ evictedBytes: number; free: number | null }> {
  const free = async (): Promise<number | null> => (await system.host()).free;
  const before = await free();
  if (before === null || before >= bytes) return { evictedBytes: 0, free: before };
  const { paths } = await findEvictable(system, undefined, { signal });
  const enough = async (): Promise<boolean> => ((await free()) ?? bytes) >= bytes;
  const evictedBytes = await evictUntil(system, paths, { signal, enough });
  return { evictedBytes, free: await free() };
}
