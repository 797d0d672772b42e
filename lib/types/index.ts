/**
 * Every public type of umaprobe, with unit, source and meaning.
 *
 * A number without a unit in its name is in bytes or a count; every other one carries its unit (`durationMs`,
 * `temperatureC`). `null` means unknown, never 0. The `from` record of the same document gives the reason under the
 * same path.
 */

export type * from './compare.ts';
export type * from './core.ts';
export type * from './globals.ts';
export type * from './machine.ts';
export type * from './machine-entries.ts';
export type * from './models.ts';
export type * from './run.ts';
export type * from './serve.ts';
export type * from './sim.ts';
