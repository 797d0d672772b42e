/** The page cache: see it, evict files, drop it, compact, reclaim, prepare. Arguments are checked here; the work is loaded by the first call. */
import {
  checkBoolean,
  checkBytes,
  checkFunction,
  checkInteger,
  checkMilliseconds,
  checkSignal,
  invalidType,
  invalidValue,
} from '../base/arguments.ts';
import type {
  CacheStatus,
  CacheStatusOptions,
  CompactOptions,
  CompactReport,
  DropOptions,
  DropReport,
  EvictOptions,
  EvictReport,
  PrepareOptions,
  PrepareReport,
  ReclaimOptions,
  ReclaimReport,
} from '../types/index.ts';

/**
 * How much of files, trees or model stores is in the page cache, dirty, being written, and mapped by whom; and the
 * machine's cache as a whole. Changes nothing. Symbolic links inside trees are not followed, and each inode counts once.
 *
 * @param paths default: the model stores of this user that exist (Hugging Face hub, Ollama, LM Studio, vLLM, torch hub).
 * @throws the signal's reason when it is aborted. UmaError `ERR_UMA_NOT_SUPPORTED` for paths on a simulated machine, which
 *   has no files. TypeError/RangeError (`ERR_INVALID_ARG_*`, `ERR_OUT_OF_RANGE`) for bad arguments. What cannot be looked
 *   at on the way is in the report.
 */
export async function cacheStatus(paths?: readonly string[], options: CacheStatusOptions = {}): Promise<CacheStatus> {
  if (paths !== undefined) checkPaths(paths);
  checkWalk(options);
  const [{ statusOf }, machine] = await load(() => import('./status.ts'));
  return statusOf(machine, paths, options);
}

/**
 * Takes files and trees out of the page cache, without root, and says what went, what stayed and why. Only what is on disk
 * already goes: dirty pages stay unless `sync` asks for them to be written first.
 *
 * An aborted eviction is a report with `state: 'aborted'`: what has gone is gone.
 *
 * @throws as `cacheStatus`.
 */
export async function evictFiles(paths: readonly string[], options: EvictOptions = {}): Promise<EvictReport> {
  checkPaths(paths);
  checkWalk(options);
  checkBoolean('sync', options.sync);
  const [{ evict }, machine] = await load(() => import('./evict.ts'));
  return evict(machine, paths, options);
}

/**
 * Writes to vm.drop_caches, after a `sync` that has a limit, and gives a receipt.
 *
 * @throws UmaError `ERR_UMA_PERMISSION` when this process may not (the message has the command to type), `ERR_UMA_BUSY`
 *   under memory pressure unless `force`; nothing has been changed then. `ERR_UMA_NOT_SUPPORTED` where the kernel has no
 *   such file, or `sudo` or `sysctl` are missing.
 */
export async function dropCaches(options: DropOptions = {}): Promise<DropReport> {
  const { level = 3, sync = true, sudo = false, force = false } = options;
  if (level !== 1 && level !== 2 && level !== 3) throw invalidValue('level', '1, 2 or 3', level);
  for (const [name, value] of Object.entries({ sync, sudo, force })) checkBoolean(name, value);
  const syncLimitMs = checkMilliseconds('syncLimitMs', options.syncLimitMs ?? 60_000, 100, 3_600_000);
  const [{ drop }, machine] = await load(() => import('./drop.ts'));
  return drop(machine, { level, sync, syncLimitMs, sudo, force });
}

/**
 * Asks the kernel to put free memory together (vm.compact_memory) unless the gate before a large launch is met already.
 *
 * @throws UmaError as `dropCaches`; `ERR_UMA_NOT_SUPPORTED` where the free blocks cannot be read.
 */
export async function compact(options: CompactOptions = {}): Promise<CompactReport> {
  const { gate = {}, always, sudo } = options;
  checkBoolean('always', always);
  checkBoolean('sudo', sudo);
  if (gate.availableBytes !== undefined) checkBytes('gate.availableBytes', gate.availableBytes, 0);
  if (gate.blockBytes !== undefined) checkBytes('gate.blockBytes', gate.blockBytes, 4096);
  const { blocks } = gate;
  if (blocks !== undefined) checkInteger('gate.blocks', blocks, 0);
  const [{ compactMemory }, machine] = await load(() => import('./compact.ts'));
  return compactMemory(machine, options);
}

/**
 * Asks the kernel to take `bytes` of page cache and swappable memory from one cgroup (memory.reclaim of cgroup v2). CUDA
 * memory is charged to no cgroup and is not touched. Less than asked for is a report with `short`.
 *
 * @throws UmaError `ERR_UMA_NOT_SUPPORTED` on cgroup v1, before Linux 5.19 and for the root cgroup; `ERR_UMA_PERMISSION`
 *   for a cgroup of others.
 */
export async function reclaim(options: ReclaimOptions): Promise<ReclaimReport> {
  const bytes = checkBytes('bytes', options?.bytes, 1);
  const { cgroup } = options;
  if (cgroup !== undefined && typeof cgroup !== 'string') throw invalidType('cgroup', 'a path', cgroup);
  const [{ reclaimFrom }, machine] = await load(() => import('./reclaim.ts'));
  return reclaimFrom(machine, cgroup === undefined ? { bytes } : { bytes, cgroup });
}

/**
 * Makes room for `bytes` before a model is loaded: evicts model files that nobody uses, drops page cache, drops driver
 * pools, compacts; as much of it as is needed and allowed, and no more. What is not allowed is a step that was skipped.
 *
 * @throws the signal's reason when it is aborted between steps; TypeError/RangeError for bad arguments.
 */
export async function prepare(options: PrepareOptions): Promise<PrepareReport> {
  const bytes = checkBytes('bytes', options?.bytes, 1);
  const { paths, dryRun = false, sudo = false, signal } = options;
  if (paths !== undefined) checkPaths(paths);
  checkSignal(signal);
  checkBoolean('dryRun', dryRun);
  checkBoolean('sudo', sudo);
  const floor = options.floor === undefined ? null : checkBytes('floor', options.floor, 0);
  const [{ prepareFor }, machine] = await load(() => import('./prepare/run.ts'));
  return prepareFor(machine, { bytes, paths, dryRun, floor, sudo, signal });
}

/** The work and the machine that it is done on. */
async function load<Module>(work: () => Promise<Module>) {
  const [module, { thisSystem }] = await Promise.all([work(), import('./system.ts')]);
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
  if (top !== undefined) checkInteger('top', top, 0, 100_000);
  checkSignal(signal);
  checkFunction('onProgress', onProgress);
}
