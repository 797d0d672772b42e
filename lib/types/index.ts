/**
 * Every public type of umaprobe, with unit, source and meaning.
 *
 * A number without a unit in its name is in bytes or a count; every other one carries its unit (`durationMs`,
 * `temperatureC`). `null` means unknown, never 0. The `from` record of the same document gives the reason under the
 * same path.
 */

export type * from './cache.ts';
export type * from './cluster.ts';
export type * from './compare.ts';
export type * from './device.ts';
export type * from './doctor.ts';
export type * from './documents.ts';
export type * from './dtypes.ts';
export type * from './estimate.ts';
export type * from './explain.ts';
export type * from './findings.ts';
export type * from './fit.ts';
export type * from './guard.ts';
export type * from './host.ts';
export type * from './judgement.ts';
export type * from './kinds.ts';
export type * from './launch.ts';
export type * from './layout.ts';
export type * from './memory.ts';
export type * from './prepare.ts';
export type * from './probe.ts';
export type * from './processes.ts';
export type * from './profile.ts';
export type * from './programs.ts';
export type * from './record.ts';
export type * from './results.ts';
export type * from './scalars.ts';
export type * from './serve.ts';
export type * from './snapshot.ts';
export type * from './stress.ts';
export type * from './sweep.ts';
