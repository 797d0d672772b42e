/** What the native guard reports, a JSON object a line, and what it is told. */

import type { GuardAction, GuardEvidence } from '../types/index.ts';

/** Descriptors of the native guard, besides its standard ones. */
export const REPORT_FD = 3;
export const CONTROL_FD = 4;
/** Shared memory of the recorder of this process, where one runs: the guard's readings serve both. */
export const READINGS_FD = 5;

/** An action without what JavaScript adds: the sentence. */
export type ReportedAction = Pick<GuardAction, 'action' | 'reason' | 'dryRun' | 'failure'> & {
  at?: string;
  target?: string | null;
  evidence: GuardEvidence;
};

export type Report =
  | { event: 'started'; at?: string; pid: number; processGroup: number; cgroup: string | null }
  | {
      event: 'reading';
      at?: string;
      available: number | null;
      free: number | null;
      groupBytes: number | null;
      groupGpuBytes: number | null;
    }
  | ({ event: 'action' } & ReportedAction)
  /** Job control: the program was stopped, as by Ctrl-Z. */
  | { event: 'stopped' | 'continued' }
  /** The program, or its target, could not be started or found. */
  | { event: 'failed'; code: string; call?: string; message?: string }
  | EndedReport;

export interface EndedReport {
  event: 'ended';
  at?: string;
  exitCode: number | null;
  signal: string | number | null;
  lowestAvailable: number | null;
  lowestFree: number | null;
  highestPressure: number | null;
  peakGroupBytes: number | null;
  peakGroupGpuBytes: number | null;
  readings: number;
  cpuMs: number;
  beforeAvailable: number | null;
  beforeFree: number | null;
  /** The last ones again: lines are dropped while this process does not read. */
  actions?: ReportedAction[];
}

/** null: no report, as when a library of the process prints a message. */
export function parseReport(line: string): Report | null {
  try {
    const report = JSON.parse(line) as Report | null;
    return typeof report === 'object' && report !== null && typeof report.event === 'string' ? report : null;
  } catch {
    return null;
  }
}

/** A line for the native guard. */
export type Control = 'loaded' | 'stop' | 'continue' | `signal ${number}` | `targets ${string}`;
