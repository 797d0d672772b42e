/**
 * The entry point `umaprobe/run`: starts, guards, records and profiles programs, explains their messages, and asks several
 * machines.
 *
 * @module umaprobe/run
 */

import { refuseOldNode } from './base/node-version.ts';

export { cluster, clusterCheck } from './run/cluster/index.ts';
export { explain, explainError } from './run/explain/index.ts';
export { guard } from './run/guard/index.ts';
export { launch } from './run/launch/index.ts';
export { profile } from './run/profile/index.ts';
export { mark, readRecord, record } from './run/record/index.ts';
export type * from './types/run.ts';

refuseOldNode();
