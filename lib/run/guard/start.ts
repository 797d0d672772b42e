/** Starts the native guard, passes on its reports, and tells it the events here. */

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, closeSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { toUmaError, UmaError } from '../../base/errors.ts';
import { isFailure } from '../../base/facts.ts';
import { inherited } from '../../base/inherited.ts';
import { checkNamedFolder } from '../../base/named-path.ts';
import { defined } from '../../base/objects.ts';
import { endedBy } from '../../base/running.ts';
import { startProcess } from '../../base/start-process.ts';
import { keepFree } from '../../core/cache/index.ts';
import { readHostMemory } from '../../core/host/meminfo-within.ts';
import { checkBelowTotal } from '../../core/memory/floor.ts';
import { type GuardThresholds, guardThresholds } from '../../core/memory/guard-rules.ts';
import { guardProgram, native } from '../../core/native/binding.ts';
import { foreignVariables, libraryFolder } from '../../core/native/machine-environment.ts';
import { memoryNow } from '../../core/snapshot/settled.ts';
import type { GuardReport, LoadAction } from '../../types/index.ts';
import { ControlLines } from './control.ts';
import { leftBehind, sharedMemoryNow } from './left-behind.ts';
import { LineSplitter } from './lines.ts';
import { type CheckedGuardOptions, checkGuardOptions, type GuardOptions } from './options.ts';
import { forwardOutput, isPiped, OutputPipes } from './output.ts';
import { type LinePattern, linePattern } from './pattern.ts';
import { guardArguments, parseReport } from './protocol.ts';
import { type Exit, GuardRun } from './run.ts';

import { followTargets } from './system.ts';
import { targetArgument } from './target.ts';
import { assertWatchable } from './watchable.ts';

/** Time for output that is still in the pipes when the program has ended. */
const LAST_OUTPUT_MS = 500;

export async function runGuard(options: GuardOptions, ends: AbortSignal): Promise<GuardReport> {
  const settings = endedBy(ends, checkGuardOptions(options));
  const machine = native().simulatedMachine();
  if (isFailure(machine)) throw toUmaError(machine);
  const { available, total } = await readHostMemory();
  assertWatchable(available);
  checkBelowTotal('floorBytes (--floor)', settings.floorBytes, total);
  checkBelowTotal('killBelowBytes (--kill-below)', settings.killBelowBytes, total);
  const thresholds = guardThresholds(total, settings);
  const isReady = settings.ready === null ? null : linePattern('ready', settings.ready);
  const tty = settings.command !== null && settings.stdio !== 'pipe' && isatty(0);
  const readings = native().recorderReadings(Math.round(settings.intervalMs * 1000));
  if (settings.keepFreeBytes !== undefined) {
    checkBelowTotal('keepFreeBytes (--keep-free)', settings.keepFreeBytes, total);
    if (machine !== null) throw noFiles(machine);
  }
  const run = new GuardRun(settings, thresholds, machine);
  const control = new ControlLines();
  // A signal is for the program from here on, also if it comes before the program has begun.
  const signals = settings.forwardSignals ? native().takeSignals() : -1;
  try {
    const channels = channelsOf({ report: 'pipe', control: 'pipe', readings, signals }, settings);
    const args = guardCommandLine(settings, thresholds, { simulated: machine !== null, tty, channels });
    const { child, pipes } = await startGuard(settings, args, channels);
    // This runs beside the start of the program, which has no time yet to leave much.
    const shared = sharedMemoryNow(machine !== null).catch(() => null);
    control.connect(child.stdio[channels.fds.control] as Writable);
    const exit = await follow(child, { settings, pipes, run, control, isReady, reportFd: channels.fds.report });
    const before = await shared;
    const [left, memory] = await Promise.all([
      before === null
        ? []
        : sharedMemoryNow(machine !== null)
            .then((after) => leftBehind(before, after, run.startedAt))
            .catch(() => []),
      memoryNow().catch(() => ({ available: null, free: null })),
    ]);
    const report = run.report(exit, memory, left);
    await run.heard();
    return report;
  } finally {
    if (signals >= 0) native().returnSignals();
  }
}

interface Following {
  settings: CheckedGuardOptions;
  pipes: OutputPipes | null;
  run: GuardRun;
  control: ControlLines;
  isReady: LinePattern | null;
  reportFd: number;
}

type ChannelName = 'report' | 'control' | 'readings' | 'signals';

/** Descriptors of the native guard above 2: those that the program inherits, and between them its own. */
interface Channels {
  stdio: readonly (number | 'pipe' | 'ignore')[];
  fds: Readonly<Record<ChannelName, number>>;
  inherited: readonly number[];
}

/** @param given a descriptor of this process; below 0: none. */
function channelsOf(given: Record<ChannelName, number | 'pipe'>, { forwardSignals }: CheckedGuardOptions): Channels {
  // The rule is that of signals: this process is one program with the one that it starts.
  const { descriptors } = forwardSignals ? inherited() : { descriptors: [] };
  const stdio = new Map<number, number | 'pipe'>(descriptors.map((fd) => [fd, fd]));
  const fds = { report: -1, control: -1, readings: -1, signals: -1 };
  for (const name of Object.keys(fds) as ChannelName[]) {
    if (given[name] !== 'pipe' && given[name] < 0) continue;
    let fd = 3;
    while (stdio.has(fd)) fd++;
    stdio.set(fd, given[name]);
    fds[name] = fd;
  }
  const length = Math.max(...stdio.keys()) - 2;
  return { stdio: Array.from({ length }, (_, at) => stdio.get(at + 3) ?? 'ignore'), fds, inherited: descriptors };
}

/** Passes on the native guard's reports and the program's output, until both have ended. */
async function follow(
  child: ChildProcess,
  { control, isReady, pipes, reportFd, run, settings }: Following,
): Promise<Exit> {
  const { signal, target } = settings;
  // A target that this call did not start goes on when the watch ends.
  const stop = (): void => (target === null ? control.write('stop') : void child.kill('SIGTERM'));
  run.onStopNeeded = stop;
  const failed = new AbortController();
  const reports = new LineSplitter((line) => {
    try {
      const report = parseReport(line);
      if (report === null) return;
      run.add(report);
      if (report.event === 'failed') failed.abort();
    } catch (error) {
      run.fail(error);
    }
  });
  const report = (child.stdio[reportFd] as Readable).setEncoding('utf8');
  report.on('data', (text: string) => reports.write(text));
  // The native guard closes it when it ends, or goes on without this process.
  const reported = once(report, 'close').catch(() => undefined);
  const onLine = (stream: 'stdout' | 'stderr', line: string): void => {
    run.output(stream, line);
    if (!run.isLoaded && isReady?.(line) === true) {
      run.loaded('ready');
      control.write('loaded');
    }
  };
  if (pipes !== null) forwardOutput(pipes, settings, onLine);
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  const following = new AbortController();
  if (target !== null && 'system' in target) void followTargets(target.system, control, following.signal);
  if (settings.keepFreeBytes !== undefined) void keepMemoryFree(settings.keepFreeBytes, run, following.signal);
  try {
    const outputs = pipes === null ? [] : [pipes.stdout, pipes.stderr].map((stream) => once(stream, 'close'));
    const exited = exitOf(child, failed.signal);
    const left = reported.then(() => (run.isLeft ? { code: 0, signal: null } : exited));
    const exit = await Promise.race([exited, left]);
    // A process that outlives the program may keep its output open.
    const ending = new AbortController();
    await Promise.race([
      Promise.allSettled([reported, ...outputs]),
      sleep(LAST_OUTPUT_MS, undefined, { signal: ending.signal }).catch(() => undefined),
    ]);
    ending.abort();
    for (const stream of child.stdio) stream?.destroy();
    pipes?.destroy();
    child.unref();
    reports.end();
    return exit;
  } finally {
    following.abort();
    signal?.removeEventListener('abort', stop);
  }
}

function noFiles(machine: string): UmaError {
  return new UmaError('ERR_UMA_NOT_SUPPORTED', {
    source: 'umaprobe',
    call: 'guard --keep-free',
    status: null,
    name: 'SIMULATED',
    message: `the simulated machine ${machine} has a page cache but no files in it`,
  });
}

/** A native guard that has failed may be stuck in the kernel: it is not waited for. */
async function exitOf(child: ChildProcess, failed: AbortSignal): Promise<Exit> {
  try {
    const [code, signal] = await once(child, 'exit', { signal: failed });
    return { code, signal };
  } catch (error) {
    if (!failed.aborted) throw error;
    child.unref();
    return { code: null, signal: null };
  }
}

function guardCommandLine(
  settings: CheckedGuardOptions,
  thresholds: GuardThresholds,
  { channels, simulated, tty }: { channels: Channels; simulated: boolean; tty: boolean },
): readonly string[] {
  const { command, dryRun, graceMs, intervalMs, keepPriority, notify, target } = settings;
  const { fds } = channels;
  const { ignoresHangup, openFiles } = inherited();
  const words = guardArguments(thresholds, {
    intervalMs,
    graceMs: Math.round(graceMs),
    dryRun,
    // A target runs already: it does not load.
    load: command === null ? [] : (settings.loadActions ?? permittedLoadActions(simulated)),
    target: target === null ? null : targetArgument(target),
    notifyWords: notify?.length ?? 0,
    fds,
    program: {
      tty,
      parent: fds.signals < 0 ? undefined : process.pid,
      openFiles: openFiles ?? undefined,
      nohup: ignoresHangup,
      nicer: !keepPriority,
    },
  });
  const commands = [...(notify ?? []), ...(command ?? [])];
  return commands.length === 0 ? words : [...words, '--', ...commands];
}

interface Started {
  child: ChildProcess;
  pipes: OutputPipes | null;
}

async function startGuard(
  settings: CheckedGuardOptions,
  args: readonly string[],
  channels: Channels,
): Promise<Started> {
  const { cwd, env, stdio } = settings;
  // A missing folder would look like a missing program.
  if (cwd !== undefined) checkNamedFolder('cwd', cwd);
  const program = guardProgram();
  const pipes = isPiped(settings) ? new OutputPipes() : null;
  const outputs = pipes?.writable ?? [stdio === 'stderr' ? 2 : 1, 2];
  try {
    const child = await startProcess(program.file, [...program.args, ...args], {
      stdio: [stdio === 'pipe' ? 'ignore' : 0, ...outputs, ...channels.stdio],
      env: guardEnvironment(env ?? process.env),
      ...defined({ cwd }),
    });
    return { child, pipes };
  } catch (error) {
    pipes?.destroy();
    throw error;
  } finally {
    // A reader that waits for their end waits for the program's.
    const { fds, stdio } = channels;
    pipes?.started();
    for (const fd of [...channels.inherited, stdio[fds.signals - 3]]) if (typeof fd === 'number') closeSync(fd);
  }
}

/**
 * The variables of the program, and those of the machine of this process. The program gets a simulated machine whole:
 * CUDA, NVML and the memory of the host.
 */
function guardEnvironment(env: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv {
  const machine = native().machineVariables();
  // An empty one is not set: the program shall not see variables that its user did not set.
  const set = Object.entries(machine).filter(([, value]) => value !== '');
  const unset = Object.keys(machine).filter((name) => machine[name] === '');
  const result: NodeJS.ProcessEnv = { ...env, ...Object.fromEntries(set) };
  for (const name of unset) delete result[name];
  const { UMAPROBE_SIM: state = '', UMAPROBE_SIM_LIBRARY: simulator = '' } = machine;
  if (state === '') return result;
  const folder = dirname(state);
  // The program has them already under `umaprobe sim run`.
  if (result.LD_LIBRARY_PATH?.split(':').includes(libraryFolder(folder))) return result;
  return { ...result, ...foreignVariables(folder, simulator, true, result) };
}

/** A look at MemFree takes 0.1 ms, a walk over 400 GB of models 50 ms. */
const KEEP_FREE_MS = 5000;

/** `keepFreeBytes`: unused model files leave the page cache until the signal is aborted. A failed look, as at a model store that does not answer, is tried again. */
async function keepMemoryFree(bytes: number, run: GuardRun, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { evictedBytes, free } = await keepFree(bytes, signal).catch(() => ({ evictedBytes: 0, free: null }));
    if (evictedBytes > 0) run.evicted(evictedBytes, free);
    await sleep(KEEP_FREE_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Ways to make room while a program loads. */
const LOAD_FILES: Readonly<Record<LoadAction, string>> = {
  drop: '/proc/sys/vm/drop_caches',
  compact: '/proc/sys/vm/compact_memory',
};

/** @param simulated on a simulated machine the simulated kernel answers the write. */
export function permittedLoadActions(simulated: boolean): LoadAction[] {
  return (Object.keys(LOAD_FILES) as LoadAction[]).filter((action) => simulated || isWritable(LOAD_FILES[action]));
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
