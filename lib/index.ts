/** The entry point `umaprobe`. The public interface is what this file and lib/sim.ts (`umaprobe/sim`) export. */

export { UmaError } from './base/errors.ts';
export { cacheStatus, compact, dropCaches, evictFiles, prepare, reclaim } from './cache/index.ts';
export { hostMemorySync } from './host/meminfo.ts';
export { layout } from './layout/index.ts';
export { snapshot } from './snapshot/index.ts';
export { memGetInfo, memGetInfoSync } from './snapshot/mem-get-info.ts';
export { watch } from './snapshot/watch.ts';
export { stress } from './stress/index.ts';
export { sweep } from './sweep/index.ts';
export type * from './types/index.ts';
