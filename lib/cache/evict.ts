/** Taking files out of the page cache, without root; nothing that is not on disk yet is touched. */

import { inBatches } from '../base/event-loop.ts';
import { reason } from '../base/facts.ts';
import type { NativeCachedFile, NativeWalkBatch, NativeWalkOptions } from '../native/contract.ts';
import type { EvictedFile, EvictOptions, EvictReport } from '../types/index.ts';
import { LargestN } from './largest.ts';
import { type Inode, inodesOf, type Mapper, mapperWords, mappingsOf } from './mappings.ts';
import { countNow, receipt } from './receipt.ts';
import { needsFiles, type System } from './system.ts';
import { chooseTargets, Tally, type Wanted } from './targets.ts';
import { type WalkHooks, walk } from './walk.ts';

type Evicted = NativeCachedFile & Inode;

/** So many reasons are told in a millisecond; nobody else waits for longer. */
const TURN = 1000;
/** So many paths are handed over in a millisecond. */
const ROOTS = 1000;

/** What an eviction sums up over its targets. */
class Sums {
  evictedBytes = 0;
  stayedBytes = 0;
  syncMs = 0;
  unseenFiles = 0;
  unseenBytes = 0;
  complete = true;

  add(last: NativeWalkBatch | null, complete: boolean): void {
    this.complete &&= complete;
    if (last === null) return;
    this.evictedBytes += last.cached - last.cachedAfter;
    this.stayedBytes += last.cachedAfter;
    this.syncMs += last.syncMs;
    this.unseenFiles += last.unseen;
    this.unseenBytes += last.unseenBytes;
  }
}

export async function evict(
  machine: System,
  paths: readonly string[],
  { top = 20, sync = false, signal, onProgress }: EvictOptions,
): Promise<EvictReport> {
  const started = performance.now();
  const at = new Date().toISOString();
  needsFiles(machine, 'cache evict');
  const before = countNow(machine);
  const { targets } = await chooseTargets(machine, paths);
  const sums = new Sums();
  const files = new LargestN<Evicted>(top, ({ cached = 0 }) => cached);
  const stayed: Evicted[] = [];
  const tallies: Tally[] = [];
  for (const target of targets) {
    const tally = new Tally(target);
    tallies.push(tally);
    const options = { mode: sync ? 'evict-sync' : 'evict', listEmpty: false, top } as const;
    await evictTarget(machine, target, options, tally, sums, { signal, onProgress }, (file) => {
      files.add(file);
      if ((file.cachedAfter ?? 0) > 0) stayed.push(file);
    });
  }
  const mappings = await mappingsOf(machine.binding, await inodesOf(stayed));
  const stayedBy: EvictReport['stayedBy'] = { mapped: 0, dirty: 0, locked: 0, memory: 0, other: 0 };
  await inBatches(stayed, TURN, (file) => {
    stayedBy[retainedReason(file, mappings.of(file), mappings.unreadable).why] += file.cachedAfter ?? 0;
  });
  const after = countNow(machine);
  const listed: EvictedFile[] = [];
  await inBatches(files.take(), TURN, (file) => {
    const mappers = mappings.of(file);
    const some = (file.cachedAfter ?? 0) > 0;
    listed.push(evictedFile(file, mappers, some ? retainedReason(file, mappers, mappings.unreadable) : null));
  });
  return {
    schema: 'umaprobe/cache-evict/1',
    at,
    simulated: machine.simulated,
    state: sums.complete ? 'complete' : 'aborted',
    targets: tallies.map(({ target }) => target),
    files: listed,
    evictedBytes: sums.evictedBytes,
    stayedBytes: sums.stayedBytes,
    unseenFiles: sums.unseenFiles,
    unseenBytes: sums.unseenBytes,
    stayedBy,
    syncMs: sums.syncMs,
    receipt: receipt(before, after),
    durationMs: performance.now() - started,
  };
}

async function evictTarget(
  { binding }: System,
  { path }: Wanted,
  options: NativeWalkOptions,
  tally: Tally,
  sums: Sums,
  hooks: WalkHooks,
  onFile: (file: Evicted) => void,
): Promise<void> {
  const { last, complete } = await walk(binding, [path], options, hooks, ({ entries }) => {
    tally.problems(entries);
    for (const entry of entries) {
      const { what, dev, ino, cached = 0 } = entry;
      if (what === 'file' && dev !== undefined && ino !== undefined && cached > 0) onFile({ ...entry, dev, ino });
    }
  });
  tally.close(last, complete);
  sums.add(last, complete);
}

/** Evicts these files, in this order, until there is enough. Bytes that left the cache. */
export async function evictUntil({ binding }: System, paths: readonly string[], hooks: WalkHooks): Promise<number> {
  const options = { mode: 'evict', listEmpty: false, top: 0 } as const;
  let evictedBytes = 0;
  for (let at = 0; at < paths.length; at += ROOTS) {
    const some = paths.slice(at, at + ROOTS);
    const { last, complete } = await walk(binding, some, options, hooks, () => undefined);
    if (last !== null) evictedBytes += last.cached - last.cachedAfter;
    if (!complete) break;
  }
  return evictedBytes;
}

export type RetainedReason = keyof EvictReport['stayedBy'];

export interface Retained {
  why: RetainedReason;
  words: string;
}

/**
 * @param file as the walk reported it; something of it stayed.
 * @param unreadable processes whose mappings could not be read.
 */
export function retainedReason(file: NativeCachedFile, mappers: readonly Mapper[], unreadable: number): Retained {
  if (file.memory === true)
    return { why: 'memory', words: 'the file system lives in memory (tmpfs): the pages are the file itself' };
  if (file.failure !== undefined) return { why: 'other', words: reason(file.failure) };
  const who = [...new Set(mappers.map(mapperWords))].join(', ');
  if (mappers.some(({ locked }) => locked)) return { why: 'locked', words: `locked in memory by ${who}` };
  if (mappers.length > 0) return { why: 'mapped', words: `mapped by ${who}` };
  if ((file.dirty ?? 0) > 0) return { why: 'dirty', words: 'dirty: not written to disk yet; --sync writes it first' };
  if ((file.writeback ?? 0) > 0) return { why: 'dirty', words: 'being written to disk at this moment' };
  const others =
    unreadable > 0 ? `, or mapped by one of ${unreadable} processes of other users that cannot be looked into` : '';
  return { why: 'other', words: `in use at this moment (being read or written)${others}` };
}

export function evictedFile(
  { path, cached = 0, cachedAfter = cached }: NativeCachedFile,
  mappedBy: Mapper[],
  stayed: Retained | null,
): EvictedFile {
  return {
    path,
    cachedBefore: cached,
    cachedAfter,
    evictedBytes: cached - cachedAfter,
    stayed: stayed?.words ?? null,
    mappedBy,
  };
}
