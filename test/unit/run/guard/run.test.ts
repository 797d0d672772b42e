/** What the native guard reports, as events and as the report of a run. */

import { describe, expect, it } from 'vitest';
import { guardThresholds } from '../../../../lib/core/memory/guard-rules.ts';
import type { CheckedGuardOptions } from '../../../../lib/run/guard/options.ts';
import { parseReport, type ReportedAction, type SupervisorReport } from '../../../../lib/run/guard/protocol.ts';
import { GuardRun } from '../../../../lib/run/guard/run.ts';
import { actionSentence } from '../../../../lib/run/guard/sentence.ts';
import type { GuardEvent } from '../../../../lib/types/index.ts';
import { GiB } from '../../../support/units.ts';

const SETTINGS: CheckedGuardOptions = {
  acceptAFrozenMachine: false,
  command: ['train'],
  target: null,
  cwd: undefined,
  env: undefined,
  stdio: 'inherit',
  floorBytes: undefined,
  killBelowBytes: undefined,
  intervalMs: 10,
  graceMs: 5000,
  loadActions: null,
  loadBytes: undefined,
  ready: null,
  notify: null,
  keepPriority: false,
  keepFreeBytes: undefined,
  dryRun: false,
  forwardSignals: false,
  onEvent: () => undefined,
  signal: undefined,
};
const EXIT = { code: 0, signal: null };
const AFTER = { available: 100 * GiB, free: 90 * GiB };

const evidence: ReportedAction['evidence'] = {
  available: 9 * GiB,
  free: 3 * GiB,
  slope: -4 * GiB,
  secondsToFloor: 0.15,
  pressureFull: 0,
  freeBlocks: 2 * GiB,
  swapFree: 0,
  freeInCpuLists: null,
  groupBytes: 70 * GiB,
  groupGpuBytes: 40 * GiB,
  othersGrewBytes: null,
};
const term: ReportedAction & { event: 'action' } = {
  event: 'action',
  at: '2026-11-22T18:00:00.000Z',
  action: 'term',
  reason: 'floor-near',
  dryRun: false,
  target: null,
  failure: null,
  evidence,
};
const ended: Extract<SupervisorReport, { event: 'ended' }> = {
  event: 'ended',
  exitCode: null,
  signal: 'SIGTERM',
  lowestAvailable: 8.6 * GiB,
  lowestFree: 2 * GiB,
  highestPressure: 1.5,
  peakGroupBytes: 71 * GiB,
  peakGroupGpuBytes: 40 * GiB,
  readings: 500,
  cpuMs: 3.5,
  beforeAvailable: 110 * GiB,
  beforeFree: 100 * GiB,
};

function runOf(reports: readonly SupervisorReport[], changes: Partial<CheckedGuardOptions> = {}) {
  const events: GuardEvent[] = [];
  const settings = { ...SETTINGS, onEvent: (event: GuardEvent) => void events.push(event), ...changes };
  const run = new GuardRun(settings, guardThresholds(120 * GiB), null);
  for (const report of reports) run.add(report);
  return { run, events };
}

describe('a run', () => {
  it('that the guard ended is stopped, with a sentence of what was seen', () => {
    const { run, events } = runOf([term, { ...term, action: 'kill', at: '2026-11-22T18:00:05.000Z' }, ended]);
    const report = run.report(EXIT, AFTER);
    expect(report).toMatchObject({ outcome: 'stopped', signal: 'SIGTERM', exitCode: null, reason: 'floor-near' });
    expect(report.sentence).toBe(
      '9.0 GiB were available, falling by 4.0 GiB/s: 150 ms to the floor of 8.4 GiB; the program held 70.0 GiB and 40.0 GiB on the GPU: the program got SIGTERM.',
    );
    expect(report.actions.map(({ action }) => action)).toEqual(['term', 'kill']);
    expect(events.map(({ type }) => type)).toEqual(['action', 'action', 'ended']);
  });

  it('that ended by itself has its exit code, whatever the guard only would have done', () => {
    const { run } = runOf([
      { ...term, dryRun: true },
      { ...ended, exitCode: 3, signal: null },
    ]);
    const report = run.report(EXIT, AFTER);
    expect(report).toMatchObject({ outcome: 'exited', exitCode: 3, reason: null, sentence: null });
    expect(report.actions[0]?.sentence).toMatch(/: the program would have got SIGTERM\.$/);
  });

  it('is not stopped by a signal that could not be sent', () => {
    const { run } = runOf([
      { ...term, failure: 'Operation not permitted' },
      { ...ended, exitCode: 0, signal: null },
    ]);
    const report = run.report(EXIT, AFTER);
    expect(report.outcome).toBe('exited');
    expect(report.actions[0]?.sentence).toMatch(/Not done: the program got SIGTERM \(Operation not permitted\)\.$/);
  });

  it('that the caller aborted is aborted, also if the guard had to kill it', () => {
    const requested: ReportedAction & { event: 'action' } = { ...term, reason: 'requested' };
    const { run } = runOf([requested, { ...requested, action: 'kill' }, ended], { signal: AbortSignal.abort() });
    expect(run.report(EXIT, AFTER)).toMatchObject({ outcome: 'aborted', reason: null, sentence: null });
  });

  it('has the actions whose lines were dropped, each once', () => {
    const late = { ...term, action: 'warn' as const, at: '2026-11-22T17:59:59.000Z' };
    const { run } = runOf([term, { ...ended, actions: [late, term] }]);
    expect(run.report(EXIT, AFTER).actions.map(({ action }) => action)).toEqual(['warn', 'term']);
  });

  it('without a report at its end is an error, never a success', () => {
    const { run } = runOf([{ event: 'started', pid: 4711, processGroup: 4711, cgroup: null, priority: 'usual' }]);
    expect(() => run.report({ code: null, signal: 'SIGKILL' }, AFTER)).toThrow(
      'the guard ended without a report; process 4711 may still run, and nobody guards it (SIGKILL)',
    );
  });

  it('has output and the end of the load after its start, in their order, whichever pipe was read first', () => {
    const { run, events } = runOf([], { stdio: 'pipe' });
    run.output('stdout', 'ready');
    run.loaded('ready');
    run.output('stdout', 'after');
    expect(events).toEqual([]);
    run.add({ event: 'started', pid: 4711, processGroup: 4711, cgroup: null, priority: 'usual' });
    expect(events.map((event) => (event.type === 'output' ? event.line : event.type))).toEqual([
      'started',
      'ready',
      'loaded',
      'after',
    ]);
  });

  it('that never began is the reason of the kernel', () => {
    const { run } = runOf([{ event: 'failed', code: 'ENOENT' }]);
    expect(() => run.report({ code: 127, signal: null }, AFTER)).toThrow(
      'start train: there is no such program (ENOENT 2)',
    );
  });

  it('stops the program when the function of the caller throws, and rejects with that error', () => {
    const { run } = runOf([], {
      onEvent: () => {
        throw new Error('mine');
      },
    });
    let stops = 0;
    run.onStopNeeded = () => stops++;
    run.add(term);
    run.add(ended);
    expect(stops).toBe(1);
    expect(() => run.report(EXIT, AFTER)).toThrow('mine');
  });
});

it('a guard of a whole system that finds nothing to stop says so once for each action', () => {
  const none = { ...term, failure: 'ESRCH' };
  const sentence = (action: typeof term, isSystem: boolean) =>
    actionSentence(action, guardThresholds(120 * GiB), isSystem);
  expect(sentence(none, true)).toMatch(/\. Nothing is stopped: no unit or container that may be stopped is running\.$/);
  expect(sentence(none, false)).toMatch(/held .*\. Not done: the program got SIGTERM \(ESRCH\)\.$/);
  expect(sentence({ ...none, target: '/system.slice/vllm.service' }, true)).toMatch(
    /\. Not done: vllm\.service got SIGTERM \(ESRCH\)\.$/,
  );
});

describe('lines of another version', () => {
  it.each([
    [{ event: 'paused', at: '' }, 'the guard wrote a line "paused", which is not known here'],
    [{ event: 'loaded', at: '' }, 'the guard wrote the line loaded without because as it is known here'],
    [{ ...term, target: 5 }, 'the guard wrote the line action without target as it is known here'],
    [
      { ...term, evidence: { ...evidence, slope: undefined } },
      'the guard wrote the line action without evidence.slope as it is known here',
    ],
    [{ ...term, evidence: 5 }, 'the guard wrote the line action without evidence as it is known here'],
  ])('%j', (line, message) => {
    expect(() => parseReport(JSON.stringify(line))).toThrow(message);
    expect(() => parseReport(JSON.stringify(line))).toThrow(expect.objectContaining({ code: 'ERR_UMA_CALL_FAILED' }));
  });

  it('stop the program, and the run rejects with them', () => {
    const { run } = runOf([term]);
    let stops = 0;
    run.onStopNeeded = () => stops++;
    run.fail(new Error('other'));
    run.add(ended);
    expect(stops).toBe(1);
    expect(() => run.report(EXIT, AFTER)).toThrow('other');
  });
});

describe('lines that are no report', () => {
  it.each(['', 'null', '5', '{}', '{"event":', '{"event":5}', 'NVRM: message'])('%s', (line) => {
    expect(parseReport(line)).toBeNull();
  });
});
