import { setTimeout as sleep } from 'node:timers/promises';
import { clean, formatBytes, formatCount } from '../../base/format.ts';
import { LIMITS } from '../../base/limits.ts';
import { milliseconds } from '../../base/options.ts';
import { readRecord, record } from '../../run/record/index.ts';
import { RECORD } from '../../run/record/options.ts';
import { recordPage } from '../../show/render/text/record.ts';
import { truncate } from '../../show/render/text-layout.ts';
import type { Recorder, RecorderState } from '../../types/index.ts';
import { type Command, type Context, shown } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { onInterrupt } from '../core/interrupt.ts';
import { optionTable, ownOptions, typedOptions } from '../core/typed-options.ts';

const DURATION = {
  durationMs: milliseconds({ ...LIMITS.lastMs, default: null, help: 'Stop after this time' }),
};

const STATUS_MS = 1000;
const CLEAR_LINE = '\r\x1b[K';

export const recordCommand: Command = {
  name: 'record',
  description:
    'Reads MemFree every 10 ms, and also MemAvailable, pressure and swap, and writes frames with the last, lowest and highest values to ' +
    'a ring of files, on disk within a second. Native threads do it, so the recording goes on while JavaScript is blocked. ' +
    'Adds the largest processes, marks (umaprobe mark) and messages of the kernel about memory and the GPU.\n' +
    'Runs until Ctrl-C, SIGTERM or --duration. umaprobe record show reads it, also after a reboot.',
  options: optionTable(DURATION, RECORD),
  examples: [
    { command: 'umaprobe record', means: 'until Ctrl-C' },
    { command: 'umaprobe record --duration 10m --interval 1ms', means: 'ten minutes, with peaks of a millisecond' },
    { command: 'umaprobe mark epoch-3', means: 'in another terminal, or from a script' },
  ],
  arguments: { min: 0, max: 0, afterDashes: false, bareWord: { option: 'folder', pattern: /\// } },
  async run(context) {
    const { values } = context;
    const { durationMs } = ownOptions(values, DURATION, 'record');
    const recorder = await record(typedOptions(values, RECORD, 'record'));
    const { exitCode, state } = await follow(recorder, durationMs ?? Number.POSITIVE_INFINITY, context);
    // A ring may hold older sessions.
    return shown(await readRecord({ folder: state.folder, sessions: 1 }), recordPage, exitCode);
  },
};

async function follow(
  recorder: Recorder,
  limitMs: number,
  { stderr }: Context,
): Promise<{ exitCode: number; state: RecorderState }> {
  const interrupt = onInterrupt();
  const until = performance.now() + limitMs;
  const { folder, socketProblem } = recorder.state();
  stderr.write(`Recording to ${clean(folder)}; Ctrl-C stops.\n`);
  if (socketProblem !== null) stderr.write(`Marks of other processes are not taken: ${clean(socketProblem)}\n`);
  let before: RecorderState | null = null;
  try {
    while (!interrupt.signal.aborted && performance.now() < until) {
      await sleep(Math.max(1, Math.min(STATUS_MS, until - performance.now())), undefined, { signal: interrupt.signal });
      const state = recorder.state();
      for (const sentence of newTroubles(before, state)) stderr.write(`${stderr.isTty ? '\n' : ''}${sentence}\n`);
      before = state;
      if (!stderr.isTty) continue;
      stderr.control(CLEAR_LINE);
      stderr.write(truncate(statusLine(state), stderr.columns - 1));
    }
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
  } finally {
    interrupt.close();
  }
  if (stderr.isTty) stderr.control(CLEAR_LINE);
  const exitCode = interrupt.exitCode();
  const state = await recorder.stop(exitCode === null ? 'time limit' : signalName(exitCode));
  if (state.failure !== null || state.lostFrames > 0)
    stderr.write(
      `Not everything was written: ${clean(state.failure ?? `${formatCount(state.lostFrames)} frames were dropped`)}\n`,
    );
  // A signal is how a recording is meant to end.
  return { exitCode: EXIT.success, state };
}

/** Troubles since the state before: each trouble is told once. */
function newTroubles(before: RecorderState | null, { failure, removedSegments }: RecorderState): string[] {
  const isFull = removedSegments > 0 && (before?.removedSegments ?? 0) === 0;
  return [
    failure !== null && failure !== (before?.failure ?? null)
      ? `The last write failed, and is tried again: ${clean(failure)}`
      : null,
    isFull ? 'The disk is full: old segments are removed early, and the recording goes on in what it has.' : null,
  ].filter((sentence) => sentence !== null);
}

function signalName(exitCode: number): string {
  return { 129: 'SIGHUP', 130: 'SIGINT', 143: 'SIGTERM' }[exitCode] ?? 'signal';
}

function statusLine({ frames, lowestAvailable, removedSegments, writtenBytes }: RecorderState): string {
  const parts = [
    `${formatCount(frames)} frames`,
    `lowest available ${formatBytes(lowestAvailable)}`,
    `${formatBytes(writtenBytes)} written`,
    ...(removedSegments > 0 ? [`the disk is full: ${formatCount(removedSegments)} old segments were removed`] : []),
  ];
  return parts.join(', ');
}
