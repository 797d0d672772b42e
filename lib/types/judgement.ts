/** The judgement of a machine: the findings that apply, and their consequences for a program that loads now. */

import type { FindingId } from './findings.ts';
import type { Amount, Natural } from './scalars.ts';

/** `notice`: normal, but it explains numbers. `warning`: it stands in the way. `danger`: act now. */
export type Severity = 'notice' | 'warning' | 'danger';

/** Level of a whole machine: the highest severity of its findings; `ok`: none. */
export type Level = 'ok' | Severity;

/** A fact behind a finding. */
export interface Evidence {
  /** The counter as its source calls it ("MemAvailable"), or the counted thing. */
  name: string;
  /** A number in `unit`, from the source that `from` names; a string, if the unit is `text`. */
  value: number | string;
  unit: 'bytes' | 'percent' | 'count' | 'text';
  /** File, library or calculation. */
  from: string;
}

/**
 * Effect of a finding on a load.
 * - `nothing`: a load is not affected.
 * - `takes`: `bytes` less can be loaded.
 * - `refuses`: nothing should be loaded now, or nothing can.
 * - `unknown`: the effect is not known.
 */
export type LoadEffect =
  | { does: 'nothing' }
  | { does: 'takes'; bytes: Amount }
  | { does: 'refuses' }
  | { does: 'unknown' };

/** The remedy for a finding. */
export interface Remedy {
  text: string;
  /** Command for a shell; null: none. */
  command: string | null;
  needsRoot: boolean;
  /** Bytes that programs can use besides when it is done, by the counters of the snapshot; null: not known. */
  gains: Amount | null;
}

/** A row of the table that applies to a machine. */
export interface Finding {
  id: FindingId;
  severity: Severity;
  /**
   * Memory that programs use on purpose, or a lasting property of the machine: it is listed, and is no reason for a level
   * above `ok`.
   */
  normal: boolean;
  /** The observation, in one or two sentences. */
  summary: string;
  /** The reason for it, as a sentence; null: the summary says it, or it is not known. */
  cause: string | null;
  /** Bytes at stake, calculated from `evidence`; null: no amount belongs to it. */
  bytes: Amount | null;
  effect: LoadEffect;
  /** The list has at least one. */
  evidence: Evidence[];
  /** null: nothing is to be done. */
  remedy: Remedy | null;
}

/** A row that could not be judged although the answer depends on it. */
export interface NotJudged {
  id: FindingId;
  /** The unknown and its reason, as a clause. */
  why: string;
}

/**
 * Bytes that a program can load: of the shared pool if the GPU shares the host's memory, else of the fullest GPU.
 * `from` names the counters behind them.
 */
export interface SafeRange {
  /** Bytes that can be loaded for certain: the number to go by. null: not known. 0: nothing. */
  bytes: Natural | null;
  /** The most that may be loaded: the rest needs compaction, or is in counters that this user may not read. */
  high: Natural | null;
  from: string;
}

/** The one answer to "is this machine fine, and how much can be loaded?" */
export interface Judgement {
  level: Level;
  /**
   * - `yes`: up to `safe.bytes`.
   * - `after`: nothing fits before a remedy is carried out.
   * - `not-now`: a finding refuses: nothing should be started, whatever is free.
   * - `unknown`: what can be loaded is not known.
   */
  mayLoad: 'yes' | 'after' | 'not-now' | 'unknown';
  safe: SafeRange;
  /** The reason for level and answer, in one or two sentences. */
  because: string;
  /** The first step to do, as a clause; null: nothing. */
  next: string | null;
  /** The rows that apply, the most urgent first. */
  findings: Finding[];
  /** Unjudged facts that matter for the answer. */
  notJudged: NotJudged[];
}
