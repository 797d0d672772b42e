/** The report of `doctor()`: every row of the table of findings, with its result. */

import type { FindingId } from './findings.ts';
import type { Evidence, LoadEffect, Remedy } from './judgement.ts';
import type { Amount, Natural, OfMachine, Timestamp } from './scalars.ts';

/**
 * `pass`: the row does not apply. `note`, `warn`: it applies as a notice or a warning. `fail`: a danger, or a warning because
 * of which nothing can be loaded now. `unknown`: it could not be judged.
 */
export type CheckStatus = 'pass' | 'note' | 'warn' | 'fail' | 'unknown';

/** A row of the table. */
export interface CheckResult {
  /** Stable: scripts may rely on it. */
  id: FindingId;
  /** Subject of the row. */
  title: string;
  status: CheckStatus;
  /** The observation; for `unknown` the reason why it could not be judged. */
  summary: string;
  /** The reason for it; null: the summary says it, or it is not known. */
  cause: string | null;
  effect: LoadEffect;
  evidence: Evidence[];
  /** null: nothing is to be done. */
  remedy: Remedy | null;
}

/** The rows of the table, judged on this machine. */
export interface DoctorReport extends OfMachine {
  schema: 'umaprobe/doctor/1';
  /** Time at which the kernel was read, ISO 8601, UTC. */
  at: Timestamp;
  /** Count of the rows with each status: the sum is the length of `checks`. */
  summary: Record<CheckStatus, Natural>;
  checks: CheckResult[];
  /** Duration of the call by the monotonic clock. */
  durationMs: Amount;
}
