/** The report of `compare()`: two documents of one kind, side by side. */

import type { Level } from './judgement.ts';
import type { ProcessesReport } from './processes.ts';
import type { RecordReport } from './record.ts';
import type { Natural, OfMachine } from './scalars.ts';
import type { Snapshot } from './snapshot.ts';
import type { SweepReport } from './sweep.ts';

/** Documents that can be compared: two of one kind. */
export type Comparable = Snapshot | ProcessesReport | SweepReport | RecordReport;

/** One of the two documents. */
export interface ComparedSide extends OfMachine {
  /** Time at which it was made, ISO 8601, UTC; of a recording the start of its newest session, which is compared. */
  at: string;
  /** Name of the GPU; null: there is none, or it is not known. */
  device: string | null;
  /** The judgement of a snapshot, the end of a sweep or recording; null: the document has none. */
  verdict: { level: Level | null; text: string } | null;
}

/** The same quantity in both documents. */
export interface ComparedRow {
  /** "answer", "programs", "memory", "steps", "settings" or "GPU 0". */
  section: string;
  /** Name within its section: a label of the ledger, a program, the kind and bytes of a step. */
  name: string;
  unit: 'bytes' | 'bytesPerSecond' | 'gbPerSecond' | 'ms' | 'percent' | 'count' | 'text';
  /** Value in `unit`, as given at `path` of the first document; null: unknown. 0 only if it is known to be nothing. */
  a: number | string | null;
  /** The same of the second document, in `unit`, as given there. */
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
  /** The largest differences, in one or two sentences. */
  summary: string;
  /**
   * `b` beside `a`: memory that can be loaded, of processes and recordings available memory, of sweeps the time of
   * allocations. `unknown`: one of the two is not known.
   */
  direction: 'more' | 'less' | 'faster' | 'slower' | 'alike' | 'unknown';
  rows: ComparedRow[];
  /** Number of quantities that are the same in both, counted. */
  same: Natural;
  /** Findings that only one of two snapshots has. */
  findings: { id: string; in: 'a' | 'b'; summary: string }[];
  /** Facts that make the two hard to compare: another machine, another driver, a list that is not complete. */
  notes: string[];
}
