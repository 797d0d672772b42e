/** The report of `compare()`: two documents of one kind, side by side. */

import type { Level } from './judgement.ts';
import type { ProcessesReport } from './processes.ts';
import type { RecordReport } from './record.ts';
import type { Natural } from './scalars.ts';
import type { Snapshot } from './snapshot.ts';
import type { SweepReport } from './sweep.ts';

/** What can be compared: two of one kind. */
export type Comparable = Snapshot | ProcessesReport | SweepReport | RecordReport;

/** One of the two documents. */
export interface ComparedSide {
  /** When it was made, ISO 8601, UTC; of a recording the start of its newest session, which is the one that is compared. */
  at: string;
  /** Name of the simulated machine; null: real hardware. */
  simulated: string | null;
  /** Name of the GPU; null: there is none, or it is not known. */
  device: string | null;
  /** Of snapshots the judgement, of sweeps and recordings how they ended; null: the document has none. */
  verdict: { level: Level | null; text: string } | null;
}

/** The same quantity in both documents. */
export interface ComparedRow {
  /** "answer", "programs", "memory", "steps", "settings" or "GPU 0". */
  section: string;
  /** Within its section: a label of the ledger, a program, the kind and bytes of a step. */
  name: string;
  unit: 'bytes' | 'bytesPerSecond' | 'gbPerSecond' | 'ms' | 'percent' | 'count' | 'text';
  /** In the first document; null: unknown. 0 only where it is known to be nothing. */
  a: number | string | null;
  b: number | string | null;
  /** b − a, in `unit`; null: one of them is unknown, or they are texts. */
  change: number | null;
  /** Its place in the documents. */
  path: string;
}

/** Two documents side by side: what differs, the largest change of each section first. */
export interface CompareReport {
  schema: 'umaprobe/compare/1';
  kind: 'snapshot' | 'processes' | 'sweep' | 'record';
  a: ComparedSide;
  b: ComparedSide;
  /** What differs most, in one or two sentences. */
  summary: string;
  /**
   * Of `b` beside `a`: memory that can be loaded, of processes and recordings memory that is or was available, of sweeps how long
   * allocations took. `unknown`: of one of them it is not known.
   */
  direction: 'more' | 'less' | 'faster' | 'slower' | 'alike' | 'unknown';
  rows: ComparedRow[];
  /** Quantities that are the same in both. */
  same: Natural;
  /** Of snapshots: findings of one of the two. */
  findings: { id: string; in: 'a' | 'b'; summary: string }[];
  /** What makes the two hard to compare: another machine, another driver, a list that is not complete. */
  notes: string[];
}
