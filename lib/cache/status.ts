/** How much of files, trees and model stores is in the page cache, and who has it mapped. */

import { inBatches, yieldToEventLoop } from '../base/event-loop.ts';
import { reason } from '../base/facts.ts';
import { fileCount, formatCount } from '../base/format.ts';
import type { NativeCachedFile, NativeWalkBatch } from '../native/contract.ts';
import type {
  CachedFile,
  CacheSplit,
  CacheStatus,
  CacheStatusOptions,
  CacheTarget,
  HostMemory,
} from '../types/index.ts';
import { LargestN } from './largest.ts';
import { type Inode, type Mappings, mappingsOf } from './mappings.ts';
import { needsFiles, type System } from './system.ts';
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
  machine: System,
  paths: readonly string[] | undefined,
  { top = 20, signal, onProgress }: CacheStatusOptions,
): Promise<CacheStatus> {
  const started = performance.now();
  const at = new Date().toISOString();
  if (paths !== undefined) needsFiles(machine, 'cache status');
  const { targets, notes } = await chooseTargets(machine, paths);
  const files = new LargestN<Found>(top, ({ cachedBytes }) => cachedBytes ?? 0);
  const looked: Looked[] = [];
  for (const target of targets) looked.push(await look(machine, target, files, { signal, onProgress }));
  signal?.throwIfAborted();
  const mappings = await mappingsOf(machine.binding, await joined(looked));
  for (const one of looked) await addMapped(one, mappings);
  const method = looked.find((one) => one.method !== null)?.method ?? null;
  const found = looked.map(({ tally }) => tally.target);
  const listed: CachedFile[] = [];
  await inBatches(files.take(), TURN, ({ dev, ino, ...file }) => {
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
  { binding }: System,
  target: Wanted,
  files: LargestN<Found>,
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
  { simulated, uid }: System,
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

/** dev, ino, cached, cached after. */
export const FIELDS = 4;

/** So many rows are a fraction of a millisecond; in between, others have their turn. */
const ROWS = 8192;

export class InodeColumns {
  readonly #chunks: Float64Array[] = [];
  length = 0;

  add(rows: Float64Array): void {
    if (rows.length === 0) return;
    this.#chunks.push(rows);
    this.length += rows.length / FIELDS;
  }

  /** Each row once, in pieces with a pause after each. */
  async forEach(row: (dev: number, ino: number, cached: number) => void): Promise<void> {
    let since = 0;
    for (const chunk of this.#chunks) {
      for (let at = 0; at < chunk.length; at += FIELDS) {
        row(chunk[at] as number, chunk[at + 1] as number, chunk[at + 2] as number);
        if (++since < ROWS) continue;
        since = 0;
        await yieldToEventLoop();
      }
    }
  }
}

/**
 * @param targets null: no files were looked at. Files whose pages are not shown count as other files.
 * @returns `machine` null: this kernel's meminfo lacks one of the lines.
 */
export function splitCache(
  host: Pick<HostMemory, 'buffers' | 'cached' | 'shmem' | 'sReclaimable' | 'dirty' | 'writeback'>,
  targets: readonly Pick<CacheTarget, 'cachedBytes' | 'memoryBytes' | 'unseenFiles'>[] | null,
): { machine: CacheSplit | null; limits: string[] } {
  const { buffers, cached, shmem, sReclaimable, dirty, writeback } = host;
  if (buffers === null || cached === null || shmem === null || sReclaimable === null)
    return { machine: null, limits: ['/proc/meminfo of this kernel lacks Buffers, Cached, Shmem or SReclaimable'] };
  // Shmem is counted in Cached. What targets have on a tmpfs is in it and is no file that could be dropped.
  const files = buffers + cached - shmem;
  const seen = targets?.reduce((sum, { cachedBytes, memoryBytes }) => sum + cachedBytes - memoryBytes, 0) ?? null;
  const asked = seen === 0 && targets?.some(({ unseenFiles }) => unseenFiles > 0) === true ? null : seen;
  // The files were looked at before the machine was: what was dropped in between must not make the rest negative.
  const modelFiles = asked === null ? null : Math.min(asked, files);
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
      asked !== null && asked > files
        ? ['the cache shrank while it was looked at: the parts are cut to what is left']
        : [],
  };
}
