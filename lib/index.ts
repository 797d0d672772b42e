/**
 * The entry point `umaprobe`. The public interface is what this file and lib/sim.ts (`umaprobe/sim`) export.
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
  SnapshotOptions,
  WatchOptions,
} from './core/snapshot/options.ts';
export { watch } from './core/snapshot/watch.ts';
export { stress } from './core/stress/index.ts';
export type { StressOptions } from './core/stress/options.ts';
export { sweep } from './core/sweep/index.ts';
export type { SweepOptions } from './core/sweep/options.ts';
export { estimate, estimateTable, openModel } from './models/estimate/index.ts';
export { fit } from './models/fit/index.ts';
export { cluster, clusterCheck } from './run/cluster/index.ts';
export type { ClusterCheckOptions, ClusterOptions } from './run/cluster/options.ts';
export { explain, explainError } from './run/explain/index.ts';
export type { ExplainErrorOptions, ExplainOptions } from './run/explain/options.ts';
export { guard } from './run/guard/index.ts';
export type { GuardOptions } from './run/guard/options.ts';
export { launch } from './run/launch/index.ts';
export type { LaunchOptions } from './run/launch/options.ts';
export { profile } from './run/profile/index.ts';
export type { ProfileOptions } from './run/profile/options.ts';
export { mark, readRecord, record } from './run/record/index.ts';
export type { ReadRecordOptions, RecordOptions } from './run/record/options.ts';
export { serve } from './serve/index.ts';
export type { ServeOptions } from './serve/options.ts';
export { compare } from './show/compare/index.ts';
export {
  type CsvReport,
  type HtmlOptions,
  type HtmlReport,
  type MetricsOptions,
  toCsv,
  toHtml,
  toMetrics,
} from './show/report/index.ts';
export type * from './types/index.ts';

refuseOldNode();
