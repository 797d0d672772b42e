/** The options of the commands that read the machine, and of those that print amounts. */

import { type CheckedOf, flag, milliseconds, oneOf } from '../../base/options.ts';
import { MEMORY } from '../../core/snapshot/options.ts';
import { PLAIN_READING } from './early-reading.ts';

/** Every digit of amounts. */
export const EXACT = { exact: flag({ help: 'Every digit instead of GiB and GB' }) };

export const DEADLINE = { deadlineMs: MEMORY.deadlineMs };

/** Limits of a reading: what is read in a child process has at least as long. */
export function limitsOf({ deadlineMs }: CheckedOf<typeof DEADLINE>): { deadlineMs: number; childDeadlineMs: number } {
  return { deadlineMs, childDeadlineMs: Math.max(PLAIN_READING.childDeadlineMs, deadlineMs) };
}

/** The way in which cudaMemGetInfo is read. */
export const memGetInfo = <Default extends 'needed' | 'auto'>(fallback: Default, help: string) =>
  oneOf(['needed', 'child', 'auto', 'never'], { default: fallback, flag: 'memgetinfo', help });

/** Time between readings on a screen: what changes more often cannot be read. */
export const intervalOf = (fallback: number, help: string) =>
  milliseconds({ min: 100, max: 3_600_000, default: fallback, help });
