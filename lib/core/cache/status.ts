/** Page cache of files, trees and model stores, and the processes that have it mapped. */

import { inBatches } from '../../base/event-loop.ts';
import { reason } from '../../base/facts.ts';
import { fileCount, formatCount } from '../../base/format.ts';
import { checkOptions } from '../../base/options.ts';
import type { CachedFile, CacheSplit, CacheStatus, CacheTarget, HostMemory } from '../../types/index.ts';
import type { NativeCachedFile, NativeWalkBatch } from '../native/contract.ts';
import { type Inode, InodeRows } from './inodes.ts';
import { LargestN } from './largest.ts';
import { type Mappings, mappingsOf } from './mappings.ts';
import { type CacheStatusOptions, checkPaths, STATUS } from './options.ts';
import { assertHasFiles, type System } from './system.ts';
import { selectTargets, type Target, TargetTally } from './targets.ts';
import { FILES_PER_BATCH, type WalkHooks, walk } from './walk.ts';

/** A listed file; its mappers are filled in later. */
type ListedFile = CachedFile & Inode;

/** A target after its walk, with the inodes of its cached files. */
interface ScannedTarget {
  tally: TargetTally;
  inodes: InodeRows;
  method: NativeWalkBatch['method'] | null;
}

export async function statusOf(
  system: System,
  paths: readonly string[] | undefined,
  options: CacheStatusOptions,
): Promise<CacheStatus> {
  if (paths !== undefined) checkPaths('paths', paths);
  const { top, signal, onEvent } = checkOptions('cacheStatus()', options, STATUS);
  const started = performance.now();
  const at = new Date().toISOString();
  if (paths !== undefined) assertHasFiles(system, 'cache status');
  const { targets, notes } = await selectTargets(system, paths);
  const largest = new LargestN<ListedFile>(top, ({ cachedBytes }) => cachedBytes ?? 0);
  const scanned: ScannedTarget[] = [];
  for (const target of targets) scanned.push(await scan(system, target, largest, { signal, onEvent }));
  signal?.throwIfAborted();
  const mappings = await mappingsOf(system.binding, await allInodePairs(scanned));
  for (const target of scanned) await addMappedBytes(target, mappings);
  const method = scanned.find((target) => target.method !== null)?.method ?? null;
  const reports = scanned.map(({ tally }) => tally.target);
  const files: CachedFile[] = [];
  await inBatches(largest.take(), FILES_PER_BATCH, ({ dev, ino, ...file }) => {
    files.push({ ...file, mappedBy: mappings.of({ dev, ino }) });
  });
  const split = splitCache(await system.host(), system.simulated === null ? reports : null);
  return {
    schema: 'umaprobe/cache-status/1',
    at,
    simulated: system.simulated,
    method,
    limits: [...notes, ...limits(system, method, reports, mappings.unreadable), ...split.limits],
    machine: split.machine,
    targets: reports,
    files,
    unreadableProcesses: mappings.unreadable,
    durationMs: performance.now() - started,
  };
}

/**
 * Splits the machine's page cache into model files, other files, shared memory and slab.
 *
 * @param targets null: no files were scanned. Files whose pages the kernel does not show count as other files.
 * @returns `machine` null: /proc/meminfo of this kernel lacks a line.
 */
export function splitCache(
  host: Pick<HostMemory, 'buffers' | 'cached' | 'shmem' | 'sReclaimable' | 'dirty' | 'writeback'>,
  targets: readonly Pick<CacheTarget, 'cachedBytes' | 'memoryBytes'>[] | null,
): { machine: CacheSplit | null; limits: string[] } {
  const { buffers, cached, shmem, sReclaimable, dirty, writeback } = host;
  if (buffers === null || cached === null || shmem === null || sReclaimable === null)
    return { machine: null, limits: ['/proc/meminfo of this kernel lacks Buffers, Cached, Shmem or SReclaimable'] };
  // Cached contains Shmem. Files of the targets on a tmpfs are part of Shmem and cannot be dropped.
  const files = buffers + cached - shmem;
  const seen =
    targets?.reduce((sum, { cachedBytes, memoryBytes }) => sum + (cachedBytes ?? 0) - (memoryBytes ?? 0), 0) ?? null;
  const isUnknown = seen === 0 && targets?.some(({ cachedBytes }) => cachedBytes === null) === true;
  const scannedBytes = isUnknown ? null : seen;
  // The files were scanned before meminfo was read: pages dropped in between must not make the rest negative.
  const modelFiles = scannedBytes === null ? null : Math.min(scannedBytes, files);
  return {
    machine: {
      modelFiles,
      otherFiles: files - (modelFiles ?? 0),
      shmem,
      slabReclaimable: sReclaimable,
      total: buffers + cached + sReclaimable,
      dirty,
      writeback,
    },
    limits:
      scannedBytes !== null && scannedBytes > files
        ? ['the cache shrank during the scan: the bytes of model files are cut to the cache that is left']
        : [],
  };
}

async function scan(
  { binding }: System,
  target: Target,
  largest: LargestN<ListedFile>,
  hooks: Pick<WalkHooks, 'signal' | 'onEvent'>,
): Promise<ScannedTarget> {
  const tally = new TargetTally(target);
  const inodes = new InodeRows();
  const options = { mode: 'status', listEmpty: false, top: largest.size } as const;
  const { last, complete } = await walk(binding, [target.path], options, hooks, (batch) => {
    tally.addProblems(batch.entries);
    inodes.add(batch.inodes);
    for (const entry of batch.entries) {
      const { what, dev, ino } = entry;
      if (what === 'file' && dev !== undefined && ino !== undefined) largest.add({ ...cachedFile(entry), dev, ino });
    }
  });
  // A cancelled status has no result: the sums of half a tree could be mistaken for those of the whole.
  hooks.signal?.throwIfAborted();
  tally.close(last, complete);
  return { tally, inodes, method: last?.method ?? null };
}

function cachedFile({ path, bytes = 0, cached, dirty, writeback, failure }: NativeCachedFile): CachedFile {
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

/** Pairs of dev, ino of all targets. */
async function allInodePairs(scanned: readonly ScannedTarget[]): Promise<Float64Array> {
  const pairs = new Float64Array(scanned.reduce((sum, { inodes }) => sum + 2 * inodes.length, 0));
  let at = 0;
  for (const { inodes } of scanned) {
    await inodes.forEach((dev, ino) => {
      pairs[at++] = dev;
      pairs[at++] = ino;
    });
  }
  return pairs;
}

async function addMappedBytes({ tally, inodes }: ScannedTarget, mappings: Mappings): Promise<void> {
  const { target } = tally;
  if (mappings.isEmpty || target.mappedBytes === null) return;
  let mapped = 0;
  await inodes.forEach((dev, ino, cached) => {
    if (mappings.has(dev, ino)) mapped += cached;
  });
  target.mappedBytes = mapped;
}

/** Facts that the report cannot show, with reasons. */
function limits(
  { simulated, uid }: System,
  method: CacheStatus['method'],
  targets: readonly CacheTarget[],
  unreadable: number,
): string[] {
  const sentences: string[] = [];
  if (simulated !== null)
    sentences.push('a simulated machine has a page cache but no files: which files are cached is not known');
  if (method === 'mincore')
    sentences.push('this kernel has no cachestat (Linux 6.5): dirty pages and pages being written are not known');
  const unseen = targets.reduce((sum, { unseenFiles }) => sum + unseenFiles, 0);
  if (unseen > 0)
    sentences.push(
      `${fileCount(unseen)} of other users: the kernel shows the pages of a file only to its owner, to users who may write it, and to root`,
    );
  if (unreadable > 0 && uid !== 0)
    sentences.push(
      `${formatCount(unreadable)} ${unreadable === 1 ? 'process' : 'processes'} of other users: only root can see which files they map`,
    );
  return sentences;
}
