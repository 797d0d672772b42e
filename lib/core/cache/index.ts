/** The page cache: status, evict, drop, compact, reclaim, prepare. A call imports its work, with the checks of its options. */

import { lazy } from '../../base/lazy.ts';
import type {
  CacheStatus,
  CompactReport,
  DropReport,
  EvictReport,
  PrepareReport,
  ReclaimReport,
} from '../../types/index.ts';
import type {
  CacheStatusOptions,
  CompactOptions,
  DropOptions,
  EvictOptions,
  PrepareOptions,
  ReclaimOptions,
} from './options.ts';

/** The system that the functions act on. */
const loadSystem = lazy(() => import('./system.ts'));
const loadStatus = lazy(() => Promise.all([loadSystem(), import('./status.ts')]));
const loadEvict = lazy(() => Promise.all([loadSystem(), import('./evict.ts')]));
const loadDrop = lazy(() => Promise.all([loadSystem(), import('./drop.ts')]));
const loadCompact = lazy(() => Promise.all([loadSystem(), import('./compact.ts')]));
const loadReclaim = lazy(() => Promise.all([loadSystem(), import('./reclaim.ts')]));
const loadPrepare = lazy(() => Promise.all([loadSystem(), import('./prepare/run.ts')]));

/**
 * Reports how much of files, trees or model stores is cached, dirty and being written, which processes map it, and the
 * machine's cache as a whole. Changes nothing. Symbolic links inside trees are not followed; each inode counts once.
 *
 * @example
 * ```ts
 * import { cacheStatus } from 'umaprobe';
 *
 * const { machine, targets } = await cacheStatus(['/models']);
 * console.log(machine?.modelFiles, targets[0]?.dirtyBytes);
 * ```
 *
 * @param paths default: this user's existing model stores (Hugging Face hub, Ollama, LM Studio, vLLM, torch hub).
 * @throws the signal's reason when it is aborted. UmaError `ERR_UMA_NOT_SUPPORTED` for paths on a simulated machine,
 *   which has no files. TypeError/RangeError (`ERR_INVALID_ARG_*`, `ERR_OUT_OF_RANGE`) for invalid arguments. Files
 *   that cannot be read are listed in the report.
 */
export async function cacheStatus(paths?: readonly string[], options: CacheStatusOptions = {}): Promise<CacheStatus> {
  const [{ thisSystem }, { statusOf }] = await loadStatus();
  return statusOf(thisSystem(), paths, options);
}

/**
 * Takes files and trees out of the page cache, without root, and reports what left, what stayed and why. Only pages
 * that are on disk leave: dirty pages stay unless `sync` writes them first.
 *
 * An aborted eviction is not undone: it resolves to a report with `state: 'aborted'`.
 *
 * @example
 * ```ts
 * import { evictFiles } from 'umaprobe';
 *
 * const { evictedBytes, files } = await evictFiles(['/models/old.gguf']);
 * console.log(evictedBytes, files[0]?.stayed);
 * ```
 *
 * @throws as `cacheStatus`.
 */
export async function evictFiles(paths: readonly string[], options: EvictOptions = {}): Promise<EvictReport> {
  const [{ thisSystem }, { evict }] = await loadEvict();
  return evict(thisSystem(), paths, options);
}

/**
 * Writes to vm.drop_caches, after a `sync` with a time limit, and returns a receipt.
 *
 * @example
 * ```ts
 * import { dropCaches } from 'umaprobe';
 *
 * const { receipt } = await dropCaches({ level: 1 });
 * console.log(receipt.change.memFree);
 * ```
 *
 * @throws the signal's reason when it is aborted. UmaError `ERR_UMA_PERMISSION` if this process may not (the message has the command for root), `ERR_UMA_BUSY`
 *   under memory pressure unless `force`; in both cases nothing was changed. `ERR_UMA_NOT_SUPPORTED` if the kernel has
 *   no such file, or `sudo` or `sysctl` is missing.
 */
export async function dropCaches(options: DropOptions = {}): Promise<DropReport> {
  const [{ thisSystem }, { drop }] = await loadDrop();
  return drop(thisSystem(), options);
}

/**
 * Asks the kernel to compact free memory (vm.compact_memory), unless it already meets the gate for a large launch.
 *
 * @example
 * ```ts
 * import { compact } from 'umaprobe';
 *
 * const { reason, verdict } = await compact({ sudo: true });
 * console.log(verdict, reason);
 * ```
 *
 * @throws as `dropCaches`; `ERR_UMA_NOT_SUPPORTED` if the free blocks cannot be read.
 */
export async function compact(options: CompactOptions = {}): Promise<CompactReport> {
  const [{ thisSystem }, { compactMemory }] = await loadCompact();
  return compactMemory(thisSystem(), options);
}

/**
 * Asks the kernel to reclaim `bytes` of page cache and swappable memory from one cgroup (memory.reclaim of cgroup v2).
 * CUDA memory is charged to no cgroup and is not touched. If the kernel finds less, the report says `short`.
 *
 * @example
 * ```ts
 * import { reclaim } from 'umaprobe';
 *
 * const { gotBytes, short } = await reclaim({ cgroup: 'user.slice', bytes: 4e9 });
 * console.log(gotBytes, short);
 * ```
 *
 * @throws the signal's reason when it is aborted. UmaError `ERR_UMA_NOT_SUPPORTED` on cgroup v1, before Linux 5.19 and for the root cgroup;
 *   `ERR_UMA_NOT_FOUND` for a cgroup that does not exist;
 *   `ERR_UMA_PERMISSION` for a cgroup of another user.
 */
export async function reclaim(options: ReclaimOptions): Promise<ReclaimReport> {
  const [{ thisSystem }, { reclaimFrom }] = await loadReclaim();
  return reclaimFrom(thisSystem(), options);
}

/**
 * Frees memory for `bytes` before a model is loaded: evicts unused model files, drops page cache, drops driver pools,
 * compacts; only as much as is needed. Steps that are not permitted are reported as skipped.
 *
 * @example
 * ```ts
 * import { prepare } from 'umaprobe';
 *
 * const { reason, verdict } = await prepare({ bytes: 60e9 });
 * if (verdict === 'not-enough') throw new Error(reason);
 * ```
 *
 * @throws the signal's reason when it is aborted between steps; TypeError/RangeError for invalid arguments.
 */
export async function prepare(options: PrepareOptions): Promise<PrepareReport> {
  const [{ thisSystem }, { prepareFor }] = await loadPrepare();
  return prepareFor(thisSystem(), options);
}

/**
 * Evicts model files that no process has mapped while less than `bytes` is free: for the guard.
 *
 * @throws UmaError `ERR_UMA_TIMEOUT` if a model store lies on a file system that does not answer.
 */
export async function keepFree(
  bytes: number,
  signal: AbortSignal,
): Promise<{ evictedBytes: number; free: number | null }> {
  const [{ thisSystem }, work] = await loadEvict();
  return work.keepFree(thisSystem(), bytes, signal);
}
