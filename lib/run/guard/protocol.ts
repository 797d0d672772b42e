/** The native guard's command line, its reports, a JSON object a line, and its orders. */

import { UmaError } from '../../base/errors.ts';
import type { GuardThresholds } from '../../core/memory/guard-rules.ts';
import type { GuardAction, GuardEvent, GuardReason, LoadAction } from '../../types/index.ts';

/** Options that differ between runs, besides the machine's thresholds. */
export interface RunOptions {
  intervalMs: number;
  graceMs: number;
  dryRun?: boolean;
  load?: readonly LoadAction[];
  /** pid:N, cgroup:/PATH or system. */
  target?: string | null;
  /** Number of words after -- that are the command to run after a stop. */
  notifyWords?: number;
  /** Descriptors of the native guard; below 0: none. */
  fds?: Readonly<Record<'report' | 'control' | 'signals' | 'readings', number>>;
  /** Relation of the program to this process; undefined and false: the usual one. */
  program?: Readonly<{
    tty: boolean;
    parent: number | undefined;
    openFiles: number | undefined;
    nohup: boolean;
    nicer: boolean;
  }>;
}

/** The options of native/run/supervisor/options.h. */
export function guardArguments(thresholds: GuardThresholds, options: RunOptions): string[] {
  const { dryRun = false, fds, graceMs, intervalMs, load = [], notifyWords = 0, program = {}, target = null } = options;
  const { floor, killBelowBytes, loadFreeBytes: free, loadLeastBytes: least, loadStepBytes: step } = thresholds;
  const descriptors = Object.entries(fds ?? {}).filter(([, fd]) => fd >= 0);
  const words = {
    floorBytes: floor.bytes,
    killBelowBytes,
    intervalMs,
    graceMs,
    act: dryRun ? 0 : '',
    load: listOf({ drop: load.includes('drop'), compact: load.includes('compact'), free, step, least }),
    target: target ?? '',
    notifyWords: notifyWords === 0 ? '' : notifyWords,
    fds: listOf(Object.fromEntries(descriptors)),
    program: listOf(program),
  };
  return Object.entries(words).flatMap(([name, value]) => (value === '' ? [] : [`--${name}=${value}`]));
}

/** "drop,free:8589934592". */
function listOf(values: Readonly<Record<string, number | boolean | undefined>>): string {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([name, value]) => (value === true ? name : `${name}:${value}`))
    .join(',');
}

type Check<Type> = (value: unknown) => value is Type;
const count: Check<number> = (value) => typeof value === 'number';
const number: Check<number | null> = (value): value is number | null => value === null || count(value);
const name: Check<string> = (value) => typeof value === 'string';
const text: Check<string | null> = (value): value is string | null => value === null || name(value);
const flag: Check<boolean> = (value) => typeof value === 'boolean';
const word = <Word extends string>(value: unknown): value is Word => name(value);
const list = <Item>(value: unknown): value is Item[] => Array.isArray(value);

type Started = Extract<GuardEvent, { type: 'started' }>;
type Loaded = Extract<GuardEvent, { type: 'loaded' }>;

const ACTION = {
  at: name,
  action: word<GuardAction['action']>,
  reason: word<GuardReason>,
  dryRun: flag,
  target: text,
  failure: text,
  evidence: {
    available: number,
    free: number,
    freeInCpuLists: number,
    slope: number,
    secondsToFloor: number,
    pressureFull: number,
    freeBlocks: number,
    swapFree: number,
    groupBytes: number,
    groupGpuBytes: number,
    othersGrewBytes: number,
  },
};

/** Fields read of the lines of native/run/supervisor/lines.h. null: not known, or not there. */
export const LINES = {
  started: { at: name, pid: number, processGroup: number, cgroup: text, priority: word<Started['priority']> },
  reading: { at: name, available: number, free: number, groupBytes: number, groupGpuBytes: number },
  action: ACTION,
  /** End of the load phase, as far as the guard saw it. */
  loaded: { at: name, because: word<Exclude<Loaded['because'], 'ready'>> },
  /** The command that is run after a stop has ended. `late`: it was killed, because it took too long. */
  notified: { at: name, exitCode: count, late: flag },
  /** The program, or its target, could not be started or found. */
  failed: { code: name, message: text },
  /** The program has ended, and processes that it started run on. `guard`: the process that guards them. */
  left: { at: name, pids: list<number>, guard: number },
  /** `actions`: the last ones again, as lines are dropped while nobody reads. */
  ended: {
    at: name,
    exitCode: number,
    signal: number,
    lowestAvailable: number,
    lowestFree: number,
    highestPressure: number,
    peakGroupBytes: number,
    peakGroupGpuBytes: number,
    readings: count,
    cpuMs: count,
    beforeAvailable: number,
    beforeFree: number,
    actions: list<ReportedAction>,
  },
};

type FieldsOf<Table> = {
  -readonly [Name in keyof Table]: Table[Name] extends (value: unknown) => value is infer Type
    ? Type
    : FieldsOf<Table[Name]>;
};
/** `at` is missing where this process makes one. */
type Line<Table> = Omit<FieldsOf<Table>, 'at'> & { at?: string };

export type ReportedAction = Line<typeof ACTION>;
export type EndedReport = Omit<Line<typeof LINES.ended>, 'actions' | 'signal'> & {
  event: 'ended';
  signal: string | number | null;
  actions?: ReportedAction[];
};
type Event = keyof typeof LINES;
export type SupervisorReport =
  | { [Name in Exclude<Event, 'ended' | 'failed'>]: { event: Name } & Line<(typeof LINES)[Name]> }[Exclude<
      Event,
      'ended' | 'failed'
    >]
  | { event: 'failed'; code: string; message?: string | null }
  | EndedReport;

/**
 * null: no report, as when a library of the process prints a message.
 *
 * @throws UmaError for a line that this does not know, or that lacks a field.
 */
export function parseReport(line: string): SupervisorReport | null {
  const report = documentOf(line);
  if (!isRecord(report) || typeof report.event !== 'string') return null;
  const { event } = report;
  if (!Object.hasOwn(LINES, event)) throw unknown(`a line ${JSON.stringify(event)}, which is not known here`);
  const wrong = misfit(report, LINES[event as Event]);
  if (wrong !== null) throw unknown(`the line ${event} without ${wrong} as it is known here`);
  return report as unknown as SupervisorReport;
}

function documentOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

interface Table {
  readonly [name: string]: ((value: unknown) => boolean) | Table;
}

/** The field that is missing, or is something else; null: none. */
function misfit(record: Readonly<Record<string, unknown>>, table: Table): string | null {
  for (const [field, check] of Object.entries(table)) {
    const value = record[field];
    if (typeof check === 'function') {
      if (!check(value)) return field;
    } else {
      const inner = isRecord(value) ? misfit(value, check) : '';
      if (inner !== null) return inner === '' ? field : `${field}.${inner}`;
    }
  }
  return null;
}

function unknown(what: string): UmaError {
  return new UmaError('ERR_UMA_CALL_FAILED', {
    source: 'umaprobe',
    call: 'umaprobe-guard',
    status: null,
    name: 'PROTOCOL',
    message: `the guard wrote ${what}: its program is not of this version`,
  });
}

/** A line for the native guard. */
export type Control = 'loaded' | 'stop' | `targets ${string}`;
