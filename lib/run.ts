/**
 * The entry point `umaprobe/run`: starts, guards, records and profiles programs, explains their messages, and asks several
 * machines.
 *
 * @module umaprobe/run
 */

import { refuseOldNode } from './base/node-version.ts';

export type { Running } from './base/running.ts';
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
export type { MarkOptions, ReadRecordOptions, RecordOptions } from './run/record/options.ts';
export type * from './types/run.ts';

refuseOldNode();
