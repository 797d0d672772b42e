/**
 * Every public type of umaprobe, with unit, source and meaning.
 *
 * House rules: a property without a unit in its name is in bytes; every other number carries its unit
 * (`durationMs`, `temperatureC`). `null` means unknown and is never 0; why it is unknown stands in the `from`
 * record beside it, under the same path.
 */

export type * from './cache.ts';
export type * from './device.ts';
export type * from './host.ts';
export type * from './kinds.ts';
export type * from './layout.ts';
export type * from './prepare.ts';
export type * from './probe.ts';
export type * from './snapshot.ts';
export type * from './stress.ts';
export type * from './sweep.ts';
