/** The judgement of a machine: the findings that apply, and what follows from them for a program that loads now. */

import type { FindingId } from './findings.ts';
import type { Amount, Natural } from './scalars.ts';

/** `notice`: normal, but it explains numbers. `warning`: it stands in the way. `danger`: act now. */
export type Severity = 'notice' | 'warning' | 'danger';

/** Of a whole machine: the highest severity of its findings; `ok`: none. */
export type Level = 'ok' | Severity;

/** A fact behind a finding. */
export interface Evidence {
  /** The counter as its source calls it ("MemAvailable"), or what was counted. */
  name: string;
  /** A number in `unit`; a string, if the unit is `text`. */
  value: number | string;
  unit: 'bytes' | 'percent' | 'count' | 'text';
  /** File, library or calculation. */
  from: string;
}

/**
 * What a finding does to a load.
 * - `nothing`: a load is not affected.
 * - `takes`: so many bytes less can be loaded.
 * - `refuses`: nothing should be loaded now, or nothing can.
 * - `unknown`: what it does is not known.
 */
export type LoadEffect =
  | { does: 'nothing' }
  | { does: 'takes'; bytes: Amount }
  | { does: 'refuses' }
  | { does: 'unknown' };

/** What to do about a finding. */
export interface Remedy {
  text: string;
  /** To paste into a shell; null: none. */
  command: string | null;
  needsRoot: boolean;
  /** Bytes that programs can use besides when it is done; null: not known. */
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
  /** What is seen, in one or two sentences. */
  summary: string;
  /** Why it is so, as a sentence; null: the summary says it, or it is not known. */
  cause: string | null;
  /** Bytes at stake; null: no amount belongs to it. */
  bytes: Amount | null;
  effect: LoadEffect;
  /** Never empty. */
  evidence: Evidence[];
  /** null: nothing is to be done. */
  remedy: Remedy | null;
}

/** A row that could not be judged although the answer depends on it. */
export interface NotJudged {
  id: FindingId;
  /** What is not known, and why, as a clause. */
  why: string;
}

/**
 * What a program can load, in bytes. On a machine whose GPU shares the host's memory, of that pool; else of the fullest GPU.
 */
export interface SafeRange {
  /** What can be loaded for certain: the number to go by. null: not known. 0: nothing. */
  bytes: Natural | null;
  /** The most that may be loaded: what lies between needs compaction, or is in counters that this user may not read. */
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
  /** What to do first, as a clause; null: nothing. */
  next: string | null;
  /** The rows that apply, the most urgent first. */
  findings: Finding[];
  /** What could not be judged and matters for the answer. */
  notJudged: NotJudged[];
}
