/** How much of files, trees and model stores is in the page cache, and who has it mapped. */

import { inTurns } from '../base/event-loop.ts';
import { reason } from '../base/facts.ts';
import { formatCount } from '../base/format.ts';
import { fileCount } from '../base/words.ts';
import type { NativeCachedFile, NativeWalkBatch } from '../native/contract.ts';
import type { CachedFile, CacheStatus, CacheStatusOptions, CacheTarget } from '../types/index.ts';
import { InodeColumns } from './columns.ts';
import { Top } from './largest.ts';
import { type Inode, type Mappings, mappingsOf } from './mappings.ts';
import { splitCache } from './split.ts';
import { type Machine, needsFiles } from './system.ts';
import { chooseTargets, Tally, type Wanted } from './targets.ts';
import { type WalkHooks, walk } from './walk.ts';

/** So many are made ready for the report in a millisecond. */
const TURN = 1000;

/** A file that is listed, until it is known who maps it. */
type Found = CachedFile & Inode;

/** One target with the inodes of its cached files. */
interface Looked {
  tally: Tally;
  inodes: InodeColumns;
  method: NativeWalkBatch['method'] | null;
}

export async function statusOf(
  machine: Machine,
  paths: readonly string[] | undefined,
  { top = 20, signal, onProgress }: CacheStatusOptions,
): Promise<CacheStatus> {
  const started = performance.now();
  const at = new Date().toISOString();
  if (paths !== undefined) needsFiles(machine, 'cache status');
  const { targets, notes } = await chooseTargets(machine, paths);
  const files = new Top<Found>(top, ({ cachedBytes }) => cachedBytes ?? 0);
  const looked: Looked[] = [];
  for (const target of targets) looked.push(await look(machine, target, files, { signal, onProgress }));
  signal?.throwIfAborted();
  const mappings = await mappingsOf(machine.binding, await joined(looked));
  for (const one of looked) await addMapped(one, mappings);
  const method = looked.find((one) => one.method !== null)?.method ?? null;
  const found = looked.map(({ tally }) => tally.target);
  const listed: CachedFile[] = [];
  await inTurns(await files.take(), TURN, ({ dev, ino, ...file }) => {
    listed.push({ ...file, mappedBy: mappings.of({ dev, ino }) });
  });
  const split = splitCache(machine.host(), machine.simulated === null ? found : null);
  return {
    schema: 'umaprobe/cache-status/1',
    at,
    simulated: machine.simulated,
    method,
    limits: [...notes, ...limits(machine, method, found, mappings.unreadable), ...split.limits],
    machine: split.machine,
    targets: found,
    files: listed,
    unreadableProcesses: mappings.unreadable,
    durationMs: performance.now() - started,
  };
}

async function look(
  { binding }: Machine,
  target: Wanted,
  files: Top<Found>,
  hooks: Pick<WalkHooks, 'signal' | 'onProgress'>,
): Promise<Looked> {
  const tally = new Tally(target);
  const inodes = new InodeColumns();
  const options = { mode: 'status', listEmpty: false, top: files.size } as const;
  const { last, complete } = await walk(binding, [target.path], options, hooks, (batch) => {
    tally.problems(batch.entries);
    inodes.add(batch.inodes);
    for (const entry of batch.entries) {
      const { what, dev, ino } = entry;
      if (what === 'file' && dev !== undefined && ino !== undefined) files.add({ ...shown(entry), dev, ino });
    }
  });
  // A cancelled status has no answer: sums of half a tree would be taken for those of the whole.
  hooks.signal?.throwIfAborted();
  tally.close(last, complete);
  return { tally, inodes, method: last?.method ?? null };
}

function shown({ path, bytes = 0, cached, dirty, writeback, failure }: NativeCachedFile): CachedFile {
  return {
    path,
    bytes,
    cachedBytes: cached ?? null,
    dirtyBytes: dirty ?? null,
    writebackBytes: writeback ?? null,
    mappedBy: [],
    reason: failure === undefined ? null : reason(failure),
  };
}

/** Pairs of dev, ino of all targets, as the binary takes them. */
async function joined(looked: readonly Looked[]): Promise<Float64Array> {
  const pairs = new Float64Array(looked.reduce((sum, { inodes }) => sum + 2 * inodes.length, 0));
  let at = 0;
  for (const { inodes } of looked) {
    await inodes.forEach((dev, ino) => {
      pairs[at++] = dev;
      pairs[at++] = ino;
    });
  }
  return pairs;
}

async function addMapped({ tally, inodes }: Looked, mappings: Mappings): Promise<void> {
  if (mappings.none) return;
  await inodes.forEach((dev, ino, cached) => {
    if (mappings.has(dev, ino)) tally.target.mappedBytes += cached;
  });
}

function limits(
  { simulated, uid }: Machine,
  method: CacheStatus['method'],
  targets: readonly CacheTarget[],
  unreadable: number,
): string[] {
  const words: string[] = [];
  if (simulated !== null)
    words.push('a simulated machine has a page cache but no files: which files are in it is not known');
  if (method === 'mincore')
    words.push('this kernel has no cachestat (Linux 6.5): dirty pages and pages being written are not known');
  const unseen = targets.reduce((sum, { unseenFiles }) => sum + unseenFiles, 0);
  if (unseen > 0)
    words.push(
      `${fileCount(unseen)} of other users: the kernel shows the pages of a file only to its owner, to who may write it, and to root`,
    );
  if (unreadable > 0 && uid !== 0)
    words.push(
      `${formatCount(unreadable)} ${unreadable === 1 ? 'process' : 'processes'} of other users: what they map is shown to root only`,
    );
  return words;
}
