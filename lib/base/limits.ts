/** Lowest and highest values of options: where several options or a check beside them have the same. */

export interface Range {
  readonly min: number;
  /** Absent: the largest whole number of JavaScript, 2^53 − 1. */
  readonly max?: number;
}

/** Bytes and counts have no unit here, as in the options. */
export const LIMITS = {
  device: { min: 0, max: 255 },
  deadlineMs: { min: 1, max: 600_000 },
  intervalMs: { min: 10, max: 3_600_000 },
  timeoutMs: { min: 100, max: 86_400_000 },
  holdMs: { min: 0, max: 86_400_000 },
  /** The end of a recording. */
  lastMs: { min: 1000, max: 3_600_000_000 },
  markLength: { min: 1, max: 4096 },
  /** Characters of a regular expression: a program of RE2 grows with it. */
  patternLength: { min: 1, max: 1000 },
  pid: { min: 1, max: 2 ** 22 },
  /** Machines at the same time. */
  hosts: { min: 1, max: 16 },
  /** Models on one machine at the same time. */
  models: { min: 2, max: 16 },
  parameters: { min: 1, max: 16 },
  parameterValues: { min: 1, max: 64 },
  /** Tokens of an estimate: far above what a machine can do, and low enough for exact sums. */
  tokens: { min: 1, max: 100_000_000 },
  sequences: { min: 1, max: 100_000 },
  devices: { min: 1, max: 1024 },
  hidden: { min: 1, max: 2 ** 24 },
  loraRank: { min: 1, max: 65_536 },
  workers: { min: 0, max: 1024 },
} as const satisfies Readonly<Record<string, Range>>;

/** Tokens: the step of a search for a context, and what llama.cpp rounds a shortened one down to (common/fit.cpp). */
export const CONTEXT_STEP = 256;

/** Any size but none. */
export const SOME_BYTES: Range = { min: 1 };
/** Any size. */
export const ANY_BYTES: Range = { min: 0 };

/** Limit of a sync, in milliseconds: writing 60 GiB to the disk of a GB10 takes half a minute. The rest stays dirty. */
export const SYNC_LIMIT_MS = 60_000;
