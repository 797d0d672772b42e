/** The server of the memory of machines, by `serve()`, and what its page gets. */

import type { RecordedProcesses, RecordedSession, SeriesPoint } from './record.ts';

/** A server that runs. */
export interface Serving {
  /** Of the page: "http://127.0.0.1:16121/". */
  url: string;
  /** Ends every connection and frees the port. The second call waits for the first. */
  close(): Promise<void>;
}

/** What the script of the page of `serve` is told once. */
export interface LivePage {
  schema: 'umaprobe/live/1';
  /** Between two readings, in milliseconds. */
  intervalMs: number;
  /** From this age on a reading is unknown, in milliseconds. */
  staleMs: number;
  /** As the user named them, in that order. */
  hosts: readonly string[];
}

/** What the page of `serve` gets of one machine with each reading. */
export interface LiveReading {
  /** Of the machine, in the order in which the page has them. */
  index: number;
  /** Age of the reading when it was sent, in milliseconds. */
  ageMs: number;
  /** "WARNING"; "UNKNOWN" where there is no reading. */
  label: string;
  /** Markup of the parts that have changed, by name. */
  pieces: Readonly<Record<string, string>>;
  /** Memory that the host needs, in bytes, by the rule of `stress`. */
  floor: number | null;
  swapTotal: number | null;
  point: SeriesPoint | null;
  /** The largest processes; null: not read. */
  processes: RecordedProcesses | null;
}

/** What the page of `serve` shows of a machine of the day before it was opened. */
export interface LiveHistory {
  /** Oldest first. */
  sessions: RecordedSession[];
  /** Why there is none, and what to do, as sentences; null: there is some. */
  why: string | null;
  /** No whole answer came in time: a page asks again. */
  isLate: boolean;
}

/** `text`: Prometheus' text format 0.0.4. `openmetrics`: OpenMetrics 1.0. The samples of both are the same lines. */
export type MetricsFormat = 'text' | 'openmetrics';
