/** The page cache: status, evict, drop, compact, reclaim, prepare. Checks arguments; a call imports the work. */

import { abortable } from '../base/abort.ts';
import {
  checkBoolean,
  checkBytes,
  checkFunction,
  checkInteger,
  checkKeys,
  checkMilliseconds,
  checkSignal,
  invalidType,
  invalidValue,
  type Keys,
} from '../base/arguments.ts';
import { lazy } from '../base/lazy.ts';
import { ANY_BYTES, LIMITS, SOME_BYTES } from '../base/limits.ts';
import type {
  CacheStatus,
  CacheStatusOptions,
  CompactOptions,
  CompactReport,
  ContiguityGate,
  DropOptions,
  DropReport,
  EvictOptions,
  EvictReport,
  PrepareOptions,
  PrepareReport,
  ReclaimOptions,
  ReclaimReport,
} from '../types/index.ts';

const statusWork = lazy(() => import('./status.ts'));
const evictWork = lazy(() => import('./evict.ts'));
const dropWork = lazy(() => import('./drop.ts'));
const compactWork = lazy(() => import('./compact.ts'));
const reclaimWork = lazy(() => import('./reclaim.ts'));
const prepareWork = lazy(() => import('./prepare/run.ts'));
const systemOfActions = lazy(() => import('./system.ts'));

const STATUS_KEYS: Keys<CacheStatusOptions> = { top: true, signal: true, onProgress: true };
const EVICT_KEYS: Keys<EvictOptions> = { sync: true, ...STATUS_KEYS };
const DROP_KEYS: Keys<DropOptions> = {
  level: true,
  sync: true,
  syncLimitMs: true,
  sudo: true,
  force: true,
  signal: true,
};
const COMPACT_KEYS: Keys<CompactOptions> = { gate: true, always: true, sudo: true, signal: true };
const GATE_KEYS: Keys<ContiguityGate> = { availableBytes: true, blockBytes: true, blocks: true };
const RECLAIM_KEYS: Keys<ReclaimOptions> = { bytes: true, cgroup: true, signal: true };
const PREPARE_KEYS: Keys<PrepareOptions> = {
  bytes: true,
  paths: true,
  dryRun: true,
  floor: true,
  sudo: true,
  signal: true,
};

/**
 * Reports how much of files, trees or model stores is cached, dirty and being written, which processes map it, and the
 * machine's cache as a whole. Changes nothing. Symbolic links inside trees are not followed; each inode counts once.
 *
 * @param paths default: this user's existing model stores (Hugging Face hub, Ollama, LM Studio, vLLM, torch hub).
 * @throws the signal's reason when it is aborted. UmaError `ERR_UMA_NOT_SUPPORTED` for paths on a simulated machine,
 *   which has no files. TypeError/RangeError (`ERR_INVALID_ARG_*`, `ERR_OUT_OF_RANGE`) for invalid arguments. Files
 *   that cannot be read are listed in the report.
 */
export async function cacheStatus(paths?: readonly string[], options: CacheStatusOptions = {}): Promise<CacheStatus> {
  if (paths !== undefined) checkPaths(paths);
  checkKeys('cacheStatus()', options, STATUS_KEYS);
  checkWalk(options);
  const [{ statusOf }, system] = await load(statusWork);
  return statusOf(system, paths, options);
}

/**
 * Takes files and trees out of the page cache, without root, and reports what left, what stayed and why. Only pages
 * that are on disk leave: dirty pages stay unless `sync` writes them first.
 *
 * An aborted eviction is not undone: it resolves to a report with `state: 'aborted'`.
 *
 * @throws as `cacheStatus`.
 */
export async function evictFiles(paths: readonly string[], options: EvictOptions = {}): Promise<EvictReport> {
  checkPaths(paths);
  checkKeys('evictFiles()', options, EVICT_KEYS);
  checkWalk(options);
  checkBoolean('sync', options.sync);
  const [{ evict }, system] = await load(evictWork);
  return evict(system, paths, options);
}

/**
 * Writes to vm.drop_caches, after a `sync` with a time limit, and returns a receipt.
 *
 * @throws the signal's reason when it is aborted. UmaError `ERR_UMA_PERMISSION` if this process may not (the message has the command for root), `ERR_UMA_BUSY`
 *   under memory pressure unless `force`; in both cases nothing was changed. `ERR_UMA_NOT_SUPPORTED` if the kernel has
 *   no such file, or `sudo` or `sysctl` is missing.
 */
export async function dropCaches(options: DropOptions = {}): Promise<DropReport> {
  checkKeys('dropCaches()', options, DROP_KEYS);
  const { level = 3, sync = true, sudo = false, force = false } = options;
  if (level !== 1 && level !== 2 && level !== 3) throw invalidValue('level', '1, 2 or 3', level);
  for (const [name, value] of Object.entries({ sync, sudo, force })) checkBoolean(name, value);
  const signal = checkSignal(options.signal);
  const syncLimitMs = checkMilliseconds('syncLimitMs', options.syncLimitMs ?? 60_000, LIMITS.syncLimitMs);
  return abortable(signal, async () => {
    const [{ drop }, system] = await load(dropWork);
    return drop(system, { level, sync, syncLimitMs, sudo, force, signal });
  });
}

/**
 * Asks the kernel to compact free memory (vm.compact_memory), unless it already meets the gate for a large launch.
 *
 * @throws as `dropCaches`; `ERR_UMA_NOT_SUPPORTED` if the free blocks cannot be read.
 */
export async function compact(options: CompactOptions = {}): Promise<CompactReport> {
  checkKeys('compact()', options, COMPACT_KEYS);
  const { gate = {}, always, sudo } = options;
  checkKeys('gate', gate, GATE_KEYS);
  const signal = checkSignal(options.signal);
  checkBoolean('always', always);
  checkBoolean('sudo', sudo);
  if (gate.availableBytes !== undefined) checkBytes('gate.availableBytes', gate.availableBytes, ANY_BYTES);
  if (gate.blockBytes !== undefined) checkBytes('gate.blockBytes', gate.blockBytes, LIMITS.gateBlockBytes);
  if (gate.blocks !== undefined) checkInteger('gate.blocks', gate.blocks, LIMITS.gateBlocks);
  return abortable(signal, async () => {
    const [{ compactMemory }, system] = await load(compactWork);
    return compactMemory(system, options);
  });
}

/**
 * Asks the kernel to reclaim `bytes` of page cache and swappable memory from one cgroup (memory.reclaim of cgroup v2).
 * CUDA memory is charged to no cgroup and is not touched. If the kernel finds less, the report says `short`.
 *
 * @throws the signal's reason when it is aborted. UmaError `ERR_UMA_NOT_SUPPORTED` on cgroup v1, before Linux 5.19 and for the root cgroup;
 *   `ERR_UMA_NOT_FOUND` for a cgroup that does not exist;
 *   `ERR_UMA_PERMISSION` for a cgroup of another user.
 */
export async function reclaim(options: ReclaimOptions): Promise<ReclaimReport> {
  checkKeys('reclaim()', options, RECLAIM_KEYS);
  const bytes = checkBytes('bytes', options.bytes, SOME_BYTES);
  const { cgroup } = options;
  const signal = checkSignal(options.signal);
  if (cgroup !== undefined && typeof cgroup !== 'string') throw invalidType('cgroup', 'a path', cgroup);
  return abortable(signal, async () => {
    const [{ reclaimFrom }, system] = await load(reclaimWork);
    return reclaimFrom(system, { bytes, cgroup, signal });
  });
}

/**
 * Frees memory for `bytes` before a model is loaded: evicts unused model files, drops page cache, drops driver pools,
 * compacts; only as much as is needed. Steps that are not permitted are reported as skipped.
 *
 * @throws the signal's reason when it is aborted between steps; TypeError/RangeError for invalid arguments.
 */
export async function prepare(options: PrepareOptions): Promise<PrepareReport> {
  checkKeys('prepare()', options, PREPARE_KEYS);
  const bytes = checkBytes('bytes', options.bytes, SOME_BYTES);
  const { paths, dryRun = false, sudo = false, signal } = options;
  if (paths !== undefined) checkPaths(paths);
  checkSignal(signal);
  checkBoolean('dryRun', dryRun);
  checkBoolean('sudo', sudo);
  const floor = options.floor === undefined ? null : checkBytes('floor', options.floor, ANY_BYTES);
  const [{ prepareFor }, system] = await load(prepareWork);
  return prepareFor(system, { bytes, paths, dryRun, floor, sudo, signal });
}

/** The module of an action, and the system that it acts on. */
async function load<Module>(action: () => Promise<Module>) {
  const module = await action();
  const { thisSystem } = await systemOfActions();
  return [module, thisSystem()] as const;
}

function checkPaths(paths: unknown): asserts paths is readonly string[] {
  if (!Array.isArray(paths)) throw invalidType('paths', 'an array of paths', paths);
  if (paths.length === 0) throw invalidValue('paths', 'at least one path', paths);
  for (const [index, path] of paths.entries()) {
    if (typeof path !== 'string') throw invalidType(`paths[${index}]`, 'a path', path);
    if (path === '' || path.includes('\0')) throw invalidValue(`paths[${index}]`, 'a path', path);
  }
}

function checkWalk({ top, signal, onProgress }: CacheStatusOptions): void {
  if (top !== undefined) checkInteger('top', top, LIMITS.top);
  checkSignal(signal);
  checkFunction('onProgress', onProgress);
}
