/**
 * The entry point `umaprobe`. The public interface is what this file and lib/sim.ts (`umaprobe/sim`) export.
 *
 * @module umaprobe
 */

import { refuseOldNode } from './base/node-version.ts';

export { type Failure, UmaError, type UmaErrorCode } from './base/errors.ts';
export { cacheStatus, compact, dropCaches, evictFiles, prepare, reclaim } from './cache/index.ts';
export { cluster, clusterCheck } from './cluster/index.ts';
export { compare } from './compare/index.ts';
export { doctor } from './doctor/index.ts';
export { estimate, estimateTable, openModel } from './estimate/index.ts';
export { explain, explainError } from './explain/index.ts';
export { fit, fitLargest, fitTable, fitTogether } from './fit/index.ts';
export { guard } from './guard/index.ts';
export { hostMemorySync } from './host/meminfo.ts';
export { launch } from './launch/index.ts';
export { layout } from './layout/index.ts';
export { processes } from './processes/index.ts';
export { profile } from './profile/index.ts';
export { mark, readRecord, record } from './record/index.ts';
export {
  type CsvReport,
  type HtmlOptions,
  type HtmlReport,
  type MetricsOptions,
  toCsv,
  toHtml,
  toMetrics,
} from './report/index.ts';
export { serve } from './serve/index.ts';
export { snapshot } from './snapshot/index.ts';
export { memGetInfo, memGetInfoSync } from './snapshot/mem-get-info.ts';
export { memory, memorySync } from './snapshot/memory.ts';
export { watch } from './snapshot/watch.ts';
export { stress } from './stress/index.ts';
export { sweep } from './sweep/index.ts';
export type * from './types/index.ts';

refuseOldNode();
