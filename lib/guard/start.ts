/** Starts the native guard, passes on what it reports, and tells it what happens here. */

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { outOfRange } from '../base/arguments.ts';
import { toUmaError } from '../base/errors.ts';
import { isFailure } from '../base/facts.ts';
import { checkNamedFolder } from '../base/named-path.ts';
import { startProcess } from '../base/start-process.ts';
import { readHostMemory } from '../host/meminfo-within.ts';
import { type GuardThresholds, guardThresholds } from '../memory/guard-rules.ts';
import { guardProgram, native } from '../native/binding.ts';
import { memoryNow } from '../snapshot/settled.ts';
import type { GuardReport } from '../types/index.ts';
import { ControlLines } from './control.ts';
import { guardEnvironment } from './environment.ts';
import { LineSplitter } from './lines.ts';
import { permittedLoadActions } from './load-actions.ts';
import { forwardOutput, isPiped } from './output.ts';
import { type LinePattern, linePattern } from './pattern.ts';
import { CONTROL_FD, guardArguments, parseReport, READINGS_FD, REPORT_FD } from './protocol.ts';
import { type Exit, GuardRun } from './run.ts';
import type { Settings } from './settings.ts';
import { forwardSignals } from './signals.ts';
import { followTargets } from './system.ts';
import { targetArgument } from './target.ts';
import { assertWatchable } from './watchable.ts';

/** For output that is still in the pipes when the program has ended. */
const LAST_OUTPUT_MS = 500;

export async function runGuard(settings: Settings): Promise<GuardReport> {
  const machine = native().simulatedMachine();
  if (isFailure(machine)) throw toUmaError(machine);
  const { available, total } = await readHostMemory();
  assertWatchable(available);
  checkBelowTotal('floorBytes', settings.floorBytes, total);
  checkBelowTotal('killBelowBytes', settings.killBelowBytes, total);
  const thresholds = guardThresholds(total, settings);
  const isReady = settings.ready === null ? null : linePattern('ready', settings.ready);
  const tty = settings.command !== null && settings.stdio !== 'pipe' && isatty(0);
  const readings = native().recorderReadings(Math.round(settings.intervalMs * 1000));
  const args = guardCommandLine(settings, thresholds, { simulated: machine !== null, tty, readings: readings >= 0 });
  const run = new GuardRun(settings, thresholds, machine);
  const control = new ControlLines();
  // From here on a signal is for the program, also if it comes before the program has begun.
  const signals = settings.forwardSignals ? forwardSignals(tty, control) : null;
  try {
    const child = await startGuard(settings, args, readings);
    control.connect(child.stdio[CONTROL_FD] as Writable);
    const exit = await follow(child, { settings, run, control, isReady, onStopped: () => signals?.stopThisProcess() });
    return run.report(exit, await memoryNow().catch(() => ({ available: null, free: null })));
  } finally {
    signals?.unlisten();
  }
}

interface Following {
  settings: Settings;
  run: GuardRun;
  control: ControlLines;
  isReady: LinePattern | null;
  /** The program was stopped by the terminal. */
  onStopped: () => void;
}

/** Passes on what the native guard reports and what the program writes, until both have ended. */
async function follow(child: ChildProcess, { control, isReady, onStopped, run, settings }: Following): Promise<Exit> {
  const { signal, target } = settings;
  // What this call did not start goes on when nobody wants to watch it any longer.
  const stop = (): void => (target === null ? control.write('stop') : void child.kill('SIGTERM'));
  run.onStopNeeded = stop;
  const reports = new LineSplitter((line) => {
    const report = parseReport(line);
    if (report === null) return;
    run.add(report);
    if (report.event === 'stopped') onStopped();
  });
  (child.stdio[REPORT_FD] as Readable).setEncoding('utf8').on('data', (text: string) => reports.write(text));
  forwardOutput(child, settings, (stream, line) => {
    run.output(stream, line);
    if (!run.isLoaded && isReady?.(line) === true) {
      run.loaded();
      control.write('loaded');
    }
  });
  const resume = (): void => control.write('continue');
  process.on('SIGCONT', resume);
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  const following = new AbortController();
  if (target !== null && 'system' in target) void followTargets(target.system, control, following.signal);
  try {
    const closed = once(child, 'close');
    const [code, exitSignal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    // A process that outlives the program may keep its output open.
    const ending = new AbortController();
    await Promise.race([closed, sleep(LAST_OUTPUT_MS, undefined, { signal: ending.signal }).catch(() => undefined)]);
    ending.abort();
    for (const stream of child.stdio) stream?.destroy();
    reports.end();
    return { code, signal: exitSignal };
  } finally {
    following.abort();
    process.removeListener('SIGCONT', resume);
    signal?.removeEventListener('abort', stop);
  }
}

function checkBelowTotal(name: string, bytes: number | undefined, total: number): void {
  if (bytes !== undefined && bytes >= total) throw outOfRange(name, `less than MemTotal, ${total} bytes`, bytes);
}

function guardCommandLine(
  settings: Settings,
  thresholds: GuardThresholds,
  { readings, simulated, tty }: { readings: boolean; simulated: boolean; tty: boolean },
): readonly string[] {
  const { command, dryRun, graceMs, intervalMs, target } = settings;
  const load = settings.loadActions ?? permittedLoadActions(simulated);
  const words = guardArguments(
    thresholds,
    { intervalMs, graceMs: Math.round(graceMs) },
    {
      act: dryRun ? 0 : 1,
      // A target runs already: it does not load.
      load: command === null ? '' : load.join(','),
      reportFd: REPORT_FD,
      controlFd: CONTROL_FD,
      tty: tty ? 1 : 0,
      parent: process.pid,
      ...(readings ? { readingsFd: READINGS_FD } : {}),
      ...(target === null ? {} : { target: targetArgument(target) }),
    },
  );
  return command === null ? words : [...words, '--', ...command];
}

async function startGuard(settings: Settings, args: readonly string[], readings: number): Promise<ChildProcess> {
  const { cwd, env, stdio } = settings;
  // A missing folder would look like a missing program.
  if (cwd !== undefined) checkNamedFolder('cwd', cwd);
  const program = guardProgram();
  const outputs = isPiped(settings) ? (['pipe', 'pipe'] as const) : ([stdio === 'stderr' ? 2 : 1, 2] as const);
  return startProcess(program.file, [...program.args, ...args], {
    stdio: [stdio === 'pipe' ? 'ignore' : 0, ...outputs, 'pipe', 'pipe', ...(readings < 0 ? [] : [readings])],
    env: guardEnvironment(env ?? process.env),
    ...(cwd === undefined ? {} : { cwd }),
  });
}
