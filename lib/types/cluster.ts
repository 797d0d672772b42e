/** Several machines: what each answered, and whether a need fits into all of them. */

import type { EstimateReport } from './estimate.ts';
import type { FitRange, FitReport, FitVerdict } from './fit.ts';
import type { Judgement, Level } from './judgement.ts';
import type { ResultWord } from './results.ts';
import type { Amount, Natural } from './scalars.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * - `answered`: its snapshot is whole, of now, of this version, and the only one of its machine.
 * - `unreachable`: ssh could not log in.
 * - `timeout`: no whole answer within the deadline.
 * - `failed`: the command there ended without a snapshot.
 * - `unreadable`: the output is not one snapshot.
 * - `other-version`: its umaprobe is of another version, whose numbers may mean something else.
 * - `stale`: the reading is old, or the two clocks differ.
 * - `doubled`: the answer is of a machine that has answered already (same boot id), or that is not known.
 * - `missing`: expected, and no answer came.
 */
export type ClusterState =
  | 'answered'
  | 'unreachable'
  | 'unreadable'
  | 'other-version'
  | 'stale'
  | 'doubled'
  | Extract<ResultWord, 'timeout' | 'failed' | 'missing'>;

/** Answer of one machine. */
export interface ClusterMachine {
  /** The caller's name for it; of a pipe the host name in its answer, or the number of the answer. */
  host: string;
  state: ClusterState;
  /** The reason for the missing snapshot, as a sentence; null: it answered. */
  because: string | null;
  /** The step that helps, as a clause; null: nothing is known, or it answered. */
  next: string | null;
  /** Age of the reading when it came, by the clock of this machine; negative: its clock is ahead. null: there is none. */
  ageMs: number | null;
  /** Set only if the machine answered: no number of another one is to be trusted. */
  snapshot: Snapshot | null;
}

/** A fact that is not the same on all machines that answered, such as their kernels. */
export interface HostDifference {
  id: 'kernel' | 'driver' | 'page-size' | 'memory' | 'gpus';
  /** "The hosts differ: kernel 6.17.0 on spark-1, 7.0.0 on spark-2." */
  summary: string;
  /** One value per machine, in their order; null: not known there. */
  values: { host: string; value: string | null }[];
}

/** The answer about several machines. */
interface ClusterAnswer {
  /** ISO 8601, UTC: when all had answered. */
  at: string;
  /** The answer in one sentence. */
  summary: string;
  /** Differences of the machines that answered: programs that span them mostly want them alike. */
  differences: HostDifference[];
  /** Time until the last answer, by the monotonic clock. */
  durationMs: Amount;
}

/** The memory of several machines. Sizes in bytes. */
export interface ClusterReport extends ClusterAnswer {
  schema: 'umaprobe/cluster/1';
  /** The highest level of a judgement; null: not every machine answered. */
  level: Level | null;
  /**
   * Bytes that can be loaded on each: the least `judgement.safe.bytes` of a snapshot; null: not known of every machine.
   */
  safe: Natural | null;
  /** Host of the machine that decides: the first; null: all are as good. */
  limiting: string | null;
  /**
   * The weakest first: without an answer, with nothing known to load, then by what can be loaded.
   * @minItems 1
   * @maxItems 16
   */
  machines: ClusterMachine[];
}

/** One machine, and whether the need fits there. */
export interface ClusterRank extends Omit<ClusterMachine, 'snapshot'> {
  /** Name of the simulated machine; null: real, or it did not answer. */
  simulated: string | null;
  /** Judgement of the machine; null: it did not answer. */
  judgement: Pick<Judgement, 'level' | 'because' | 'next'> | null;
  /** The answer of `fit()` on its snapshot; null: it did not answer. */
  fit: FitReport | null;
}

/** Answer whether a need fits into each of several machines: the weakest decides. */
export interface ClusterCheck extends ClusterAnswer {
  schema: 'umaprobe/cluster-check/1';
  /** Verdict of the weakest machine; `unknown` if a machine did not answer, and none is known to be too small. */
  verdict: FitVerdict;
  /** True if every machine answered. */
  complete: boolean;
  /** Host of the machine that decides: the first; null: it fits into all. */
  limiting: string | null;
  /** The most that each machine is to hold at any time; null: no machine answered. */
  need: FitRange | null;
  /** The estimate behind the need of the machine that decides; null: the need is a number of bytes. */
  estimate: EstimateReport | null;
  /**
   * The weakest first.
   * @minItems 1
   * @maxItems 16
   */
  ranks: ClusterRank[];
}
