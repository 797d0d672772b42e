/** Profiles: the memory that a program takes by its settings, and the largest safe configuration. */

import type { ResultWord } from './results.ts';
import type { Amount, Factor, Integer, Natural, OfMachine, Positive, Timestamp } from './scalars.ts';

/** Value of each varied parameter: `{ batch_size: 8, seq_len: 2048 }`. */
export type ProfileParameters = Readonly<Record<string, Factor>>;

/** A parameter and the values that are tried, rising, given by the caller. */
export interface ProfileVariation {
  /** The placeholder's name: "batch_size" for `{batch_size}`. */
  name: string;
  /**
   * Numbers above 0 in the parameter's own unit, rising; most often each is twice the one before.
   * @minItems 1
   */
  values: readonly Factor[];
}

/** One number to be found: the largest that is safe. Given by the caller. */
export interface ProfileBisection {
  name: string;
  /**
   * Whole numbers in the parameter's own unit, 1 or more. `from` is tried first, and the values are its multiples, and
   * `to`.
   */
  from: Positive;
  /** The largest number that is tried, in its own unit. */
  to: Positive;
}

/** Expected `peakBytes` before the trial, calculated by `model`. Bytes; `low` ≤ `bytes` ≤ `high`. */
export interface ProfilePrediction {
  bytes: Natural;
  low: Natural;
  high: Natural;
  /** Method, with the trials it rests on. */
  model: string;
  /** Number of these trials, counted. One alone tells no growth, so nothing is refused by it. */
  trials: Positive;
}

/**
 * End of a trial.
 * - `ok`: the command ended well, or reached `ready` or `steps`, and the peak stayed within the limit.
 * - `refused`: it was not run, because its predicted peak is above the limit. Whether it fits is not known.
 * - `skipped`: it was not run, because it is at or above a configuration that was measured unsafe, or in which the machine vanished.
 * - `stopped`: the guard stopped it at the limit or the floor. The peak is what it had reached until then.
 * - `out-of-memory`: it failed, and its output says that an allocation did.
 * - `failed`: it could not be started, ended with another exit code than 0 or by a signal, or ran longer than `trialTimeMs`.
 * - `machine-lost`: the machine vanished during this trial in an earlier run.
 */
export type ProfileStatus = Extract<
  ResultWord,
  'ok' | 'over' | 'refused' | 'skipped' | 'stopped' | 'out-of-memory' | 'failed' | 'machine-lost' | 'aborted'
>;

/**
 * Parts of a trial, measured about every 100 ms. `plateau` is the median of the second half of the run; `peak` the
 * highest; `after` once it has ended.
 */
export interface ProfilePhases {
  /**
   * Memory in use in the pool, in bytes; on the host MemTotal less MemAvailable and less the free pages in the
   * processors' lists, which a trial takes first. null: not reached.
   */
  start: Natural | null;
  plateau: Natural | null;
  peak: Natural | null;
  after: Natural | null;
}

/** Memory that a profile measures and limits. */
export const PROFILE_POOLS = ['gpu', 'host'] as const;

/**
 * The memory that the trials compete for. `host`: the host's, where the GPU shares it or there is none. `gpu`: that of the visible
 * GPUs, which have memory of their own, by NVML; of those on which a trial takes memory the fullest decides. The guard keeps the host's floor
 * in both.
 */
export interface ProfilePool {
  name: (typeof PROFILE_POOLS)[number];
  /** MemTotal, or what programs can use of the smallest of `gpus`, in bytes. */
  total: Positive;
  /** GPUs by position in the snapshot; `total` is usable by programs, in bytes. Empty: the pool is the host's. */
  gpus: { index: Natural; name: string | null; total: Positive }[];
}

/** One configuration. Sizes in bytes. */
export interface ProfileTrial {
  /** Position in the order of the trials, counted from 1. */
  number: Positive;
  /**
   * The values that were tried, each in its parameter's own unit: of the caller's list, or calculated by the bisection.
   */
  params: ProfileParameters;
  status: ProfileStatus;
  /** `prediction.bytes`, calculated from earlier trials; null: there is none to predict from. */
  predictedBytes: Natural | null;
  prediction: ProfilePrediction | null;
  /** Highest memory in use in the pool; on the host MemTotal less the least that was available. null: not run, or not known. */
  peakBytes: Natural | null;
  /** The least that was available in the pool; on the host MemAvailable, and the free pages in the processors' lists. */
  headroomBytes: Natural | null;
  /**
   * Position in the snapshot of the GPU that `peakBytes` and `headroomBytes` are of; null: they are of the host, or not
   * known.
   */
  gpu: Natural | null;
  /** Largest sum of the command's processes: host memory from /proc/<pid>. null: not known. */
  groupBytes: Natural | null;
  /** Largest sum of their GPU memory as NVML lists it. null: not known. */
  groupGpuBytes: Natural | null;
  phases: ProfilePhases;
  /**
   * The number of `metric` in the last line that has one, as given by the command, in its own unit. null: none was
   * printed.
   */
  metric: number | null;
  /** Exit code of the command by waitpid(2); null: not run, or a signal ended it. */
  exitCode: Integer | null;
  signal: string | null;
  /** ISO 8601, UTC. null: not run. */
  startedAt: Timestamp | null;
  /** Time from the start to the end of the command, by the system's clock; 0: not run. */
  durationMs: Amount;
  /** True: from the journal of an earlier run that `resume` continues. */
  earlier: boolean;
  /** A note on it, as a sentence; null: nothing. */
  notes: string | null;
}

/** A curve through the trials of one parameter, calculated from them: `fixedBytes + unitBytes · value ^ exponent`. */
export interface ProfileCurve {
  parameter: string;
  /** Values of the other parameters of these trials, each in its own unit. */
  at: ProfileParameters;
  /**
   * Values of the parameter in its own unit, and `peakBytes` of each trial less the memory in use before it.
   * @minItems 2
   */
  points: { value: number; peakBytes: Natural }[];
  fixedBytes: Integer;
  unitBytes: Amount;
  /**
   * Exponent without a unit. 1: linear; above: faster than linear.
   * @minimum 1
   * @maximum 4
   */
  exponent: number;
  /** "13.5 GiB + 3.96 GiB · batch_size^1.08". */
  formula: string;
}

/** The run before this one that did not end. */
export interface ProfileUnfinished {
  /** ISO 8601, UTC: begin of its last trial, or of the run. */
  at: Timestamp;
  /** True if the machine was started again since. The trial is `machine-lost` then: nothing at or above it is run. */
  otherBoot: boolean;
  /** Values of the trial it was lost in, as given by the journal; null: between trials. */
  params: ProfileParameters | null;
  sentence: string;
}

/** End of a profile. `complete`: every configuration was run or refused. `failed`: the smallest configuration is not safe. */
export type ProfileState = Extract<ResultWord, 'complete' | 'failed' | 'not-clean' | 'aborted'>;

/**
 * Events of a profile. `number` and `params` are those of the trial; the bytes of a reading are from /proc and NVML.
 */
export type ProfileEvent =
  /** Facts before the first trial. */
  | { type: 'started'; report: ProfileStart }
  | { type: 'trial-started'; number: number; params: ProfileParameters; prediction: ProfilePrediction | null }
  /** A line of the command's output. */
  | { type: 'output'; stream: 'stdout' | 'stderr'; line: string }
  /** Available memory and that of the command's processes, in bytes, about every 100 ms. */
  | { type: 'reading'; available: number | null; groupBytes: number | null; groupGpuBytes: number | null }
  /** A row is complete, also one that was refused or comes from an earlier run. */
  | { type: 'trial'; trial: ProfileTrial };

/** Facts that are known before the first trial. */
export type ProfileStart = Pick<
  ProfileReport,
  | 'at'
  | 'simulated'
  | 'bootId'
  | 'command'
  | 'parameters'
  | 'bisection'
  | 'total'
  | 'pool'
  | 'limit'
  | 'floor'
  | 'baselineBytes'
  | 'others'
  | 'unfinished'
  | 'journal'
  | 'journalNotes'
  | 'recording'
>;

/** The answer of `profile()`. */
export interface ProfileReport extends OfMachine {
  schema: 'umaprobe/profile/1';
  at: Timestamp;
  bootId: string | null;
  /**
   * The given command, with its placeholders.
   * @minItems 1
   */
  command: string[];
  /** @minItems 1 */
  parameters: ProfileVariation[];
  bisection: ProfileBisection | null;
  /** MemTotal, in bytes. */
  total: Natural;
  pool: ProfilePool;
  /** Largest peak that is allowed, in bytes, and the rule or the caller's number that gave it. */
  limit: { bytes: Natural; from: string };
  /** Memory left for the host, in bytes, and the rule or the caller's number that gave it. */
  floor: { bytes: Natural; from: string };
  /** Memory in use in the pool before the first trial, in bytes, measured as `ProfilePhases.start`. */
  baselineBytes: Natural;
  state: ProfileState;
  /** The reason for its end, as a sentence. */
  reason: string;
  trials: ProfileTrial[];
  /**
   * The largest safe configuration, with the bytes of its trial, measured; null: none was found. `margin` is the limit
   * less its peak.
   */
  safe: { params: ProfileParameters; peakBytes: Natural; headroomBytes: Natural; marginBytes: Integer } | null;
  curves: ProfileCurve[];
  /**
   * Processes of others (process ids and bytes by NVML) that held GPU memory before the first trial. They were left
   * alone.
   */
  others: { pid: Integer; name: string | null; gpuBytes: Natural | null }[];
  unfinished: ProfileUnfinished | null;
  /** Path of the journal; null: none was kept. */
  journal: string | null;
  journalNotes: string[];
  /** Folder of the recording; null: none was made. */
  recording: string | null;
  /** Duration of the call by the monotonic clock. */
  durationMs: Amount;
}
