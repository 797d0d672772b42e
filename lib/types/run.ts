/** Types of the door `umaprobe/run`. */

export type * from './cluster.ts';
export type * from './explain.ts';
export type * from './guard.ts';
export type * from './launch.ts';
export type * from './profile.ts';
export type * from './record.ts';
