/** The native guard's command line, what it reports, a JSON object a line, and what it is told. */

import type { GuardThresholds } from '../../core/memory/guard-rules.ts';
import type {
  CONTROL,
  PROGRAM_LINES,
  PROGRAM_OPTIONS,
  PROGRAM_TEXTS,
  ProgramLine,
  ProgramRules,
} from '../../core/native/guard-protocol.ts';

/** Numbers of the caller, besides the thresholds. */
export interface Pace {
  intervalMs: number;
  graceMs: number;
}

type Options = Partial<Record<keyof typeof PROGRAM_OPTIONS, number> & Record<(typeof PROGRAM_TEXTS)[number], string>>;

/** The rules and options as the native guard takes them. */
export function guardArguments({ floor, ...thresholds }: GuardThresholds, pace: Pace, options: Options = {}): string[] {
  const rules: ProgramRules = { ...thresholds, ...pace, floorBytes: floor.bytes };
  return Object.entries({ ...rules, ...options }).map(([name, value]) => `--${name}=${value}`);
}

/** A line without its name; `at` is missing where this process makes one. */
type Line<Event extends keyof typeof PROGRAM_LINES> = Omit<ProgramLine<Event>, 'at'> & { at?: string };

export type ReportedAction = Line<'action'>;
export type EndedReport = Omit<Line<'ended'>, 'actions' | 'stopped' | 'signal'> & {
  event: 'ended';
  signal: string | number | null;
  actions?: ReportedAction[];
};
export type Report =
  | ({ event: 'started' } & Omit<Line<'started'>, 'locked' | 'available' | 'free'>)
  | ({ event: 'loaded' } & Line<'loaded'>)
  | ({ event: 'reading' } & Line<'reading'>)
  | ({ event: 'action' } & ReportedAction)
  | ({ event: 'notified' } & Line<'notified'>)
  | ({ event: 'left' } & Omit<Line<'left'>, 'pids'> & { pids: number[] })
  | { event: 'failed'; code: string; message?: string | null }
  | EndedReport;

/** null: no report, as when a library of the process prints a message. */
export function parseReport(line: string): Report | null {
  try {
    const report = JSON.parse(line) as Report | null;
    return typeof report === 'object' && report !== null && typeof report.event === 'string' ? report : null;
  } catch {
    return null;
  }
}

type Word = (typeof CONTROL)[number];
/** A line for the native guard. */
export type Control = Exclude<Word, 'targets'> | `${Word & 'targets'} ${string}`;
