/** Types of the door `umaprobe/models`. */

export type * from './estimate.ts';
export type * from './fit.ts';
export type * from './programs.ts';
