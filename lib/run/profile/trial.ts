/** One trial: fills in the placeholders, runs the command under the guard, and reads its phases. */

import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { makeTemporaryFolder } from '../../base/folder.ts';
import { formatBytes, formatDuration, printable } from '../../base/format.ts';
import { defined } from '../../base/objects.ts';
import type { GuardEvent, GuardReport, ProfileEvent, ProfileParameters, ProfileTrial } from '../../types/index.ts';
import { explainError } from '../explain/index.ts';
import { guard } from '../guard/index.ts';
import { type Order, rowOf } from './explore.ts';
import type { CheckedProfileOptions } from './options.ts';
import { fill } from './placeholders.ts';
import { besideText, GpuPool, type Pool } from './pool.ts';
import { writeTemplates } from './templates.ts';

/** 200 readings a second: a peak of some 10 ms is seen. */
const INTERVAL_MS = 5;
/** Time that a command gets to end after `ready` or `steps`. */
const GRACE_MS = 5000;
/** Lines of output of which the last is quoted where a command fails. */
const LINE_LENGTH = 160;

/** Characters of the end of the output in which a failed command's message is looked for. */
const KEPT_OUTPUT = 64 * 1024;

/** Facts that all trials share. */
export interface TrialMachine {
  /** MemTotal. */
  total: number;
  pool: Pool;
  limitBytes: number;
  floorBytes: number;
  onEvent: (event: ProfileEvent) => void | Promise<void>;
  /** The command runs. */
  onProcess(pid: number): void;
}

/** Memory in use in the pool, in bytes; `index` of a GPU, and null of the host. */
interface PoolCourse {
  index: number | null;
  total: number;
  start: number | null;
  peak: number | null;
  used: readonly number[];
}

const NOT_READ: PoolCourse = { index: null, total: 0, start: null, peak: null, used: [] };

/** Runs the command to its end. The memory may not be back. */
export async function runTrial(
  order: Order,
  options: CheckedProfileOptions,
  machine: TrialMachine,
): Promise<ProfileTrial> {
  const folder = options.templates.size === 0 ? null : makeTemporaryFolder(tmpdir(), 'umaprobe-profile-');
  try {
    const file = writeTemplates(options.templates, order.params, folder ?? '');
    return await new Trial(order, options, machine).run(file);
  } finally {
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
  }
}

class Trial {
  readonly #order: Order;
  readonly #options: CheckedProfileOptions;
  readonly #machine: TrialMachine;
  readonly #end = new AbortController();
  /** The reason why this process ended the command; null: it has not. */
  #ended: 'complete' | 'timeout' | null = null;
  #steps = 0;
  #metric: number | null = null;
  #lastLine = '';
  /** The end of the output. */
  readonly #output: string[] = [];
  #outputLength = 0;
  /** Memory in use on the host, about every 100 ms. */
  readonly #used: number[] = [];

  constructor(order: Order, options: CheckedProfileOptions, machine: TrialMachine) {
    this.#order = order;
    this.#options = options;
    this.#machine = machine;
  }

  async run(file: (name: string) => string): Promise<ProfileTrial> {
    const { command, cwd, env, signal, trialTimeMs } = this.#options;
    const { floorBytes, limitBytes, pool, total } = this.#machine;
    const substitutes = { params: this.#order.params, file };
    const [program, ...args] = command.map((word) => fill(word, substitutes));
    const variables = Object.fromEntries(
      Object.entries(env).map(([name, text]) => [name, text === undefined ? undefined : fill(text, substitutes)]),
    );
    const abort = (): void => this.#end.abort();
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted === true) abort();
    const timer = trialTimeMs === null ? undefined : setTimeout(() => this.#stop('timeout'), trialTimeMs);
    const startedAt = new Date().toISOString();
    const start = await pool.used();
    const following = pool instanceof GpuPool ? await pool.follow() : null;
    const beside = pool instanceof GpuPool ? null : await pool.beside?.follow();
    try {
      const report = await guard({
        command: [program as string, ...args],
        env: { ...process.env, ...variables },
        ...defined({ cwd }),
        stdio: 'pipe',
        floorBytes,
        // It was checked when the profile began.
        acceptAFrozenMachine: true,
        // CUDA refuses more than a GPU's own memory; the host's floor is kept all the same.
        ...(following === null ? { killBelowBytes: total - limitBytes } : {}),
        intervalMs: INTERVAL_MS,
        graceMs: GRACE_MS,
        // Dropped or compacted memory would be missing in the comparison with other trials.
        loadActions: [],
        onEvent: (event) => this.#on(event),
        signal: this.#end.signal,
      });
      const course = following === null ? this.#hostCourse(report, start) : ((await following.end()) ?? NOT_READ);
      return await this.#row(report, startedAt, course, besideText((await beside?.end()) ?? null));
    } finally {
      await beside?.end();
      await following?.end();
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  #stop(why: 'complete' | 'timeout'): void {
    this.#ended ??= why;
    this.#end.abort();
  }

  #on(event: GuardEvent): void | Promise<void> {
    const { onEvent, onProcess } = this.#machine;
    if (event.type === 'started') {
      if (event.pid !== null) onProcess(event.pid);
    } else if (event.type === 'reading') {
      const { available, groupBytes, groupGpuBytes } = event;
      const { pool, total } = this.#machine;
      if (available !== null && pool.facts.name === 'host') this.#used.push(total - available);
      return onEvent({ type: 'reading', available, groupBytes, groupGpuBytes });
    } else if (event.type === 'output') {
      this.#read(event.line);
      return onEvent({ type: 'output', stream: event.stream, line: event.line });
    }
  }

  #read(line: string): void {
    const { metric, ready, steps } = this.#options;
    if (line.trim() !== '') this.#lastLine = line;
    this.#keep(line);
    const found = metric?.(line) ?? null;
    const number = found === null ? Number.NaN : Number(found.replaceAll(',', ''));
    if (Number.isFinite(number) && found !== '') this.#metric = number;
    if (steps?.matches(line) === true && ++this.#steps === steps.count) this.#stop('complete');
    if (ready?.(line) === true) this.#stop('complete');
  }

  #keep(line: string): void {
    this.#output.push(line);
    this.#outputLength += line.length;
    while (this.#outputLength > KEPT_OUTPUT && this.#output.length > 1)
      this.#outputLength -= this.#output.shift()?.length ?? 0;
  }

  #hostCourse({ lowest: { available } }: GuardReport, start: number | null): PoolCourse {
    const { total } = this.#machine;
    return { index: null, total, start, peak: available === null ? null : total - available, used: this.#used };
  }

  async #row(
    report: GuardReport,
    startedAt: string,
    { index, peak, start, total, used }: PoolCourse,
    besides: string | null,
  ): Promise<ProfileTrial> {
    const { number, params, prediction } = this.#order;
    const { notes, status } = await this.#verdict(report, peak);
    return {
      ...rowOf(params, number, prediction),
      status,
      notes: [notes, besides].filter((text) => text !== null).join('; ') || null,
      peakBytes: peak,
      headroomBytes: peak === null ? null : total - peak,
      gpu: index,
      groupBytes: report.peak.groupBytes,
      groupGpuBytes: report.peak.groupGpuBytes,
      phases: { start, plateau: plateauOf(used), peak, after: null },
      metric: this.#metric,
      exitCode: report.exitCode,
      signal: report.signal,
      startedAt,
      durationMs: report.durationMs,
    };
  }

  async #failure(exitCode: number | null, signal: string | null): Promise<Pick<ProfileTrial, 'status' | 'notes'>> {
    const how = signal === null ? `exit code ${exitCode ?? 'unknown'}` : `ended by ${signal}`;
    const { errors } = await explainError(this.#output.join('\n'), { snapshot: null });
    const shortage = errors.findLast(({ verdict }) => verdict === 'shortage');
    const line = printable((shortage?.text ?? this.#lastLine).trim()).slice(0, LINE_LENGTH);
    const status = shortage === undefined ? 'failed' : 'out-of-memory';
    return { status, notes: line === '' ? how : `${how}: ${line}` };
  }

  async #verdict(report: GuardReport, peak: number | null): Promise<Pick<ProfileTrial, 'status' | 'notes'>> {
    const { exitCode, outcome, sentence, signal } = report;
    const { limitBytes } = this.#machine;
    const { ready, steps, trialTimeMs } = this.#options;
    const over = peak !== null && peak > limitBytes;
    const overNote = `the peak is ${formatBytes((peak ?? 0) - limitBytes)} above the limit`;
    if (outcome === 'stopped') return { status: 'stopped', notes: sentence };
    if (this.#ended === 'timeout')
      return { status: 'failed', notes: `it ran longer than ${formatDuration(trialTimeMs ?? 0)}` };
    if (this.#ended === 'complete') return over ? { status: 'over', notes: overNote } : { status: 'ok', notes: null };
    if (outcome === 'aborted') return { status: 'aborted', notes: null };
    if (exitCode !== 0) return this.#failure(exitCode, signal);
    if (over) return { status: 'over', notes: overNote };
    const missing =
      steps !== null && this.#steps < steps.count
        ? `it ended after ${this.#steps} of ${steps.count} steps`
        : ready !== null
          ? 'it ended by itself, and no line matched ready'
          : null;
    return { status: 'ok', notes: missing };
  }
}

/** Median in the second half. */
function plateauOf(used: readonly number[]): number | null {
  const half = used.slice(Math.floor(used.length / 2)).sort((a, b) => a - b);
  return half[Math.floor(half.length / 2)] ?? null;
}

/** Parameters as the title of a mark in the recording. */
export function markText(number: number, params: ProfileParameters): string {
  return `trial ${number}: ${JSON.stringify(params)}`;
}
