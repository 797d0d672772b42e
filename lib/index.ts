/**
 * The entry point `umaprobe`, the core: reads and judges memory, measures it, and gives it back. The public interface is what
 * this file and the doors of the wings beside it export; docs/stability.md says how each of them changes.
 *
 * @module umaprobe
 */

import { refuseOldNode } from './base/node-version.ts';

export { type Failure, UmaError, type UmaErrorCode } from './base/errors.ts';
export { cacheStatus, compact, dropCaches, evictFiles, prepare, reclaim } from './core/cache/index.ts';
export type {
  CacheStatusOptions,
  CompactOptions,
  DropOptions,
  EvictOptions,
  PrepareOptions,
  ReclaimOptions,
} from './core/cache/options.ts';
export { doctor } from './core/doctor/index.ts';
export type { DoctorOptions } from './core/doctor/options.ts';
export { hostMemorySync } from './core/host/meminfo.ts';
export { layout } from './core/layout/index.ts';
export type { LayoutOptions } from './core/layout/options.ts';
export type { ProbeOptions } from './core/probe/options.ts';
export { processes } from './core/processes/index.ts';
export type { ProcessesOptions } from './core/processes/options.ts';
export { snapshot } from './core/snapshot/index.ts';
export { memGetInfo, memGetInfoSync } from './core/snapshot/mem-get-info.ts';
export { memory, memorySync } from './core/snapshot/memory.ts';
export type {
  MemGetInfoOptions,
  MemoryOptions,
  MemorySyncOptions,
  SnapshotOptions,
  WatchOptions,
} from './core/snapshot/options.ts';
export { watch } from './core/snapshot/watch.ts';
export { stress } from './core/stress/index.ts';
export type { StressOptions } from './core/stress/options.ts';
export { sweep } from './core/sweep/index.ts';
export type { SweepOptions } from './core/sweep/options.ts';
export type * from './types/core.ts';

refuseOldNode();
