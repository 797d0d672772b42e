/** Types of the door `umaprobe`: what the core reads, judges, measures and gives back. */

export type * from './cache.ts';
export type * from './device.ts';
export type * from './doctor.ts';
export type * from './documents.ts';
export type * from './dtypes.ts';
export type * from './findings.ts';
export type * from './host.ts';
export type * from './judgement.ts';
export type * from './kinds.ts';
export type * from './layout.ts';
export type * from './memory.ts';
export type * from './prepare.ts';
export type * from './probe.ts';
export type * from './processes.ts';
export type * from './results.ts';
export type * from './scalars.ts';
export type * from './snapshot.ts';
export type * from './stress.ts';
export type * from './sweep.ts';
