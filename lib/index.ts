/** The door for programs; lib/sim.ts (`umaprobe/sim`) is the one for tests. What neither exports is not part of umaprobe's interface. */

export { cacheStatus, compact, dropCaches, evictFiles, prepare, reclaim } from './cache.ts';
export { UmaError } from './errors.ts';
export { hostMemorySync } from './host-memory.ts';
export { layout } from './layout.ts';
export { memGetInfo, memGetInfoSync } from './mem-get-info.ts';
export { snapshot } from './snapshot.ts';
export { stress } from './stress.ts';
export { sweep } from './sweep.ts';
export type * from './types.ts';
export { watch } from './watch.ts';
