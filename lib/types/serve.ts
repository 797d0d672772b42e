/** The server of the memory of machines, by `serve()`, and what its page gets. */

import type { RecordedProcesses, RecordedSession, SeriesPoint } from './record.ts';

/** A server that runs. */
export interface Serving {
  /** Address of the page: "http://127.0.0.1:16121/". */
  url: string;
  /** Ends every connection and frees the port. The second call waits for the first. */
  close(): Promise<void>;
  /** `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Facts that the script of the page of `serve` gets once. */
export interface LivePage {
  schema: 'umaprobe/live/1';
  /** Time between two readings, given by the caller of `serve()`. */
  intervalMs: number;
  /** Age from which a reading is unknown: three times `intervalMs` or more, calculated. */
  staleMs: number;
  /** The user's names for them, in that order. */
  hosts: readonly string[];
}

/** Data of one machine that the page of `serve` gets with each reading. */
export interface LiveReading {
  /** Index of the machine, in the order that was given. */
  index: number;
  /** Age of the reading when it was sent, by the monotonic clock. */
  ageMs: number;
  /** "WARNING"; "UNKNOWN" where there is no reading. */
  label: string;
  /** Markup of the parts that have changed, by name. */
  pieces: Readonly<Record<string, string>>;
  /** Memory that the host needs, in bytes, by the rule of `stress` for its MemTotal. */
  floor: number | null;
  /** SwapTotal, in bytes; null: not read. */
  swapTotal: number | null;
  point: SeriesPoint | null;
  /** The largest processes; null: not read. */
  processes: RecordedProcesses | null;
}

/** The last day of a machine before the page of `serve` was opened. */
export interface LiveHistory {
  /** Oldest first. */
  sessions: RecordedSession[];
  /** The reason for a missing history and the remedy, as sentences; null: there is some. */
  why: string | null;
  /** No whole answer came in time: a page asks again. */
  isLate: boolean;
}

/** `text`: Prometheus' text format 0.0.4. `openmetrics`: OpenMetrics 1.0. The samples of both are the same lines. */
export type MetricsFormat = 'text' | 'openmetrics';
