/**
 * Every public type of umaprobe, with unit, source and meaning.
 *
 * House rules: a property without a unit in its name is in bytes; every other number carries its unit
 * (`durationMs`, `temperatureC`). `null` means unknown and is never 0; why it is unknown stands in the `from`
 * record beside it, under the same path.
 */

export type * from './types/cache.ts';
export type * from './types/device.ts';
export type * from './types/host.ts';
export type * from './types/layout.ts';
export type * from './types/prepare.ts';
export type * from './types/probe.ts';
export type * from './types/snapshot.ts';
export type * from './types/stress.ts';
export type * from './types/sweep.ts';
