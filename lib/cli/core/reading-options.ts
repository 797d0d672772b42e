/** The options of the commands that read the machine. */

import { LIMITS } from '../../base/limits.ts';
import type { OptionValues } from './command.ts';
import { PLAIN_READING } from './early-reading.ts';
import { duration, durationRange } from './options.ts';

export const DEADLINE = {
  type: 'string',
  placeholder: '<time>',
  summary: `Time limit for CUDA, NVML and files of the kernel: ${durationRange(LIMITS.deadlineMs)} (default 2s); without an answer, values are unknown`,
} as const;

export function deadline(values: OptionValues, command: string): number {
  return duration(values, 'deadline', LIMITS.deadlineMs, PLAIN_READING.deadlineMs, command);
}

/** The same for a reading: a reading in a child process has at least as long. */
export function deadlines(values: OptionValues, command: string): { deadlineMs: number; childDeadlineMs: number } {
  const deadlineMs = deadline(values, command);
  return { deadlineMs, childDeadlineMs: Math.max(PLAIN_READING.childDeadlineMs, deadlineMs) };
}

export const MEMGETINFO = ['needed', 'child', 'auto', 'never'] as const;
