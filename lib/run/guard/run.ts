/** One guarded run: events as they are reported, and the report at its end. */

import { constants } from 'node:os';
import { UmaError, type UmaErrorCode } from '../../base/errors.ts';
import { Listener } from '../../base/listener.ts';
import { signalName } from '../../base/signals.ts';
import { processName } from '../../core/host/process.ts';
import type { GuardThresholds } from '../../core/memory/guard-rules.ts';
import type {
  GuardAction,
  GuardEvent,
  GuardNotified,
  GuardReading,
  GuardReport,
  LeftBehind,
} from '../../types/index.ts';
import type { CheckedGuardOptions } from './options.ts';
import type { EndedReport, ReportedAction, SupervisorReport } from './protocol.ts';
import { actionSentence, leftBehindText, notifyFailure } from './sentence.ts';
import { unwatchable } from './watchable.ts';

/** Exit of the native guard itself. */
export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

const NO_READING: GuardReading = { available: null, free: null };

export class GuardRun {
  /** Called when the program has to be stopped because of the caller. */
  onStopNeeded: () => void = () => undefined;
  isLoaded = false;
  /** The native guard goes on with processes that the program left. */
  isLeft = false;
  readonly #settings: CheckedGuardOptions;
  readonly #thresholds: GuardThresholds;
  readonly #simulated: string | null;
  readonly #startedAt = new Date();
  /** Events of output that came before the line "started": two pipes have no order. null: that line has come. */
  #early: GuardEvent[] | null = [];
  readonly #actions: GuardAction[] = [];
  readonly #notified: GuardNotified[] = [];
  #evictedBytes = 0;
  #pid: number | null = null;
  #ended: EndedReport | null = null;
  /** Summary of the readings, for a guard that was ended before its report. */
  readonly #seen = { count: 0, first: NO_READING, lowest: NO_READING };
  #failed: Extract<SupervisorReport, { event: 'failed' }> | null = null;
  readonly #listener: Listener<GuardEvent>;

  constructor(settings: CheckedGuardOptions, thresholds: GuardThresholds, simulated: string | null) {
    this.#settings = settings;
    this.#listener = new Listener(settings.onEvent, () => this.onStopNeeded());
    this.#thresholds = thresholds;
    this.#simulated = simulated;
  }

  add(report: SupervisorReport): void {
    const at = ('at' in report ? report.at : undefined) ?? new Date().toISOString();
    if (report.event === 'action') this.#act(report);
    else if (report.event === 'failed') this.#failed = report;
    else if (report.event === 'started') {
      const { cgroup, pid, priority, processGroup } = report;
      this.#pid = pid;
      this.#emit({ type: 'started', at, pid, processGroup, cgroup, priority });
      this.#flushEarly();
    } else if (report.event === 'reading') {
      const { available, free, groupBytes, groupGpuBytes } = report;
      this.#see({ available, free });
      this.#emit({ type: 'reading', at, available, free, groupBytes, groupGpuBytes });
    } else if (report.event === 'loaded') {
      this.loaded(report.because);
    } else if (report.event === 'notified') {
      this.#notify(report, at);
    } else if (report.event === 'left') {
      this.isLeft = report.guard !== null;
      const processes = report.pids.map((pid) => ({ pid, name: processName(pid) }));
      this.#emit({ type: 'left', at, processes, guard: report.guard });
    } else if (report.event === 'ended') {
      this.#ended = report;
      this.#addMissing(report.actions ?? []);
    }
  }

  /** The run rejects with it, once the program has ended: an unknown line of the native guard. */
  fail(error: unknown): void {
    this.#listener.fail(error);
  }

  /** Waits for the caller's function; throws what it has failed with. */
  async heard(): Promise<void> {
    await this.#listener.settled();
  }

  output(stream: 'stdout' | 'stderr', line: string): void {
    if (this.#settings.stdio !== 'pipe') return;
    this.#emitAfterStart({ type: 'output', at: new Date().toISOString(), stream, line });
  }

  #emitAfterStart(event: GuardEvent): void {
    if (this.#early === null) this.#emit(event);
    else this.#early.push(event);
  }

  #flushEarly(): void {
    const events = this.#early ?? [];
    this.#early = null;
    for (const event of events) this.#emit(event);
  }

  loaded(because: 'ready' | 'plateau' | 'limit'): void {
    if (this.isLoaded) return;
    this.isLoaded = true;
    this.#emitAfterStart({ type: 'loaded', at: new Date().toISOString(), because });
  }

  evicted(bytes: number, free: number | null): void {
    this.#evictedBytes += bytes;
    this.#emitAfterStart({ type: 'evicted', at: new Date().toISOString(), bytes, free });
  }

  get startedAt(): Date {
    return this.#startedAt;
  }

  /**
   * @throws UmaError when the program was not started, or the native guard ended before it; the error of the caller's
   *   function.
   */
  report(exit: Exit, after: GuardReading, leftBehind: LeftBehind[] = []): GuardReport {
    this.#flushEarly();
    // Output that was still in the pipes comes before it.
    if (this.#ended !== null) {
      const { at = new Date().toISOString(), exitCode, signal } = this.#ended;
      this.#emit({ type: 'ended', at, exitCode, signal: nameOf(signal) });
    }
    this.#listener.throwIfFailed();
    const { command, signal, target } = this.#settings;
    const isSystem = this.#isSystem();
    if (this.#failed !== null) throw notStarted(this.#failed, command?.[0] ?? 'the target');
    const ended = this.#ended ?? this.#unfinished(exit);
    const stop = this.#actions.findLast(
      ({ action, dryRun, failure }) => (action === 'term' || action === 'kill') && !dryRun && failure === null,
    );
    const first = this.#actions.find(({ action, dryRun, reason }) =>
      action === 'term' || action === 'kill' ? !dryRun && reason === stop?.reason : false,
    );
    const isStopped = stop !== undefined && stop.reason !== 'requested' && !isSystem;
    const isAborted = signal?.aborted === true && !isStopped;
    const endedAt = new Date();
    return {
      schema: 'umaprobe/guard/1',
      simulated: this.#simulated,
      command,
      target,
      outcome: isStopped ? 'stopped' : isAborted ? 'aborted' : 'exited',
      exitCode: ended.exitCode,
      signal: nameOf(ended.signal),
      reason: isStopped ? stop.reason : null,
      sentence: isStopped ? `${(first ?? stop).sentence}${leftBehindText(leftBehind)}` : null,
      watches: 'host',
      floor: this.#thresholds.floor,
      killBelowBytes: this.#thresholds.killBelowBytes,
      startedAt: this.#startedAt.toISOString(),
      endedAt: endedAt.toISOString(),
      durationMs: endedAt.getTime() - this.#startedAt.getTime(),
      before: { available: ended.beforeAvailable, free: ended.beforeFree },
      lowest: { available: ended.lowestAvailable, free: ended.lowestFree },
      after,
      highestPressure: ended.highestPressure,
      peak: { groupBytes: ended.peakGroupBytes, groupGpuBytes: ended.peakGroupGpuBytes },
      leftBehind,
      evictedBytes: this.#evictedBytes,
      actions: this.#actions.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at)),
      notified: this.#notified,
      readings: ended.readings,
      cpuMs: ended.cpuMs,
    };
  }

  /** True: parts of a whole system are stopped, and the guard goes on. */
  #isSystem(): boolean {
    const { target } = this.#settings;
    return target !== null && 'system' in target;
  }

  #see(reading: GuardReading): void {
    if (this.#seen.count++ === 0) this.#seen.first = reading;
    const { available, free } = this.#seen.lowest;
    this.#seen.lowest = { available: lower(available, reading.available), free: lower(free, reading.free) };
  }

  /** The guard of a target ends without a report when it is asked to. */
  #unfinished(exit: Exit): EndedReport {
    if (this.#settings.target === null || this.#settings.signal?.aborted !== true) throw this.#lost(exit);
    const { count, first, lowest } = this.#seen;
    return {
      event: 'ended',
      exitCode: null,
      signal: null,
      lowestAvailable: lowest.available,
      lowestFree: lowest.free,
      highestPressure: null,
      peakGroupBytes: null,
      peakGroupGpuBytes: null,
      readings: count,
      cpuMs: 0,
      beforeAvailable: first.available,
      beforeFree: first.free,
    };
  }

  #notify({ exitCode, late }: Extract<SupervisorReport, { event: 'notified' }>, at: string): void {
    const [file = ''] = this.#settings.notify ?? [];
    const notified = { at, exitCode: late ? null : exitCode, failure: notifyFailure(file, exitCode, late) };
    this.#notified.push(notified);
    this.#emit({ type: 'notified', ...notified });
  }

  #act(reported: ReportedAction): void {
    const { action, dryRun, evidence, failure, reason } = reported;
    const fields = { action, reason, target: reported.target, evidence, dryRun, failure };
    const at = reported.at ?? new Date().toISOString();
    const sentence = actionSentence(fields, this.#thresholds, this.#isSystem());
    const event: GuardAction = { type: 'action', at, ...fields, sentence };
    this.#actions.push(event);
    this.#emit(event);
  }

  /** Actions whose own line was dropped, because this process did not read. */
  #addMissing(last: readonly ReportedAction[]): void {
    const known = new Set(this.#actions.map(keyOf));
    for (const action of last) if (!known.has(keyOf(action))) this.#act(action);
  }

  #emit(event: GuardEvent): void {
    this.#listener.hear(event);
  }

  #lost({ code, signal }: Exit): UmaError {
    const left = this.#pid === null ? '' : `; process ${this.#pid} may still run, and nobody guards it`;
    return new UmaError('ERR_UMA_CALL_FAILED', {
      source: 'umaprobe',
      call: 'umaprobe-guard',
      status: code,
      name: signal ?? 'LOST',
      message: `the guard ended without a report${left}`,
    });
  }
}

function lower(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

function keyOf({ action, at, evidence, reason }: ReportedAction | GuardAction): string {
  return JSON.stringify([action, reason, at, evidence.available, evidence.free]);
}

function nameOf(signal: string | number | null): string | null {
  return typeof signal === 'number' ? signalName(signal) : signal;
}

const NOT_STARTED: Readonly<Record<string, readonly [UmaErrorCode, string]>> = {
  ENOENT: ['ERR_UMA_CALL_FAILED', 'there is no such program'],
  EACCES: ['ERR_UMA_CALL_FAILED', 'it is not executable, or this user may not execute it'],
  ESRCH: ['ERR_UMA_NOT_FOUND', 'there is no such process'],
  EPERM: ['ERR_UMA_PERMISSION', 'it is another user’s'],
};

function notStarted({ code, message }: { code: string; message?: string | null }, file: string): UmaError {
  if (code === 'TIMEOUT' || code === 'ENODATA') return unwatchable(`${message}`);
  const [umaCode, text] = NOT_STARTED[code] ?? ['ERR_UMA_CALL_FAILED', message ?? ''];
  const status = constants.errno[code as keyof typeof constants.errno] ?? null;
  return new UmaError(umaCode, { source: 'kernel', call: `start ${file}`, status, name: code, message: text });
}
