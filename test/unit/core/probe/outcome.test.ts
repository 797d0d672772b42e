import { describe, expect, it } from 'vitest';
import { runOutcome } from '../../../../lib/core/probe/outcome.ts';

type Run = Parameters<typeof runOutcome>[0];
const GiB = 2 ** 30;
const trip = { memAvailable: 7 * GiB, freeInCpuLists: null, pressureFull: 0, stoppedAfterMs: null, freedAfterMs: null };

const run = (changes: Partial<Run>): Run => ({
  header: { floor: { bytes: 8 * GiB, from: '' } } as Run['header'],
  end: 'complete',
  reason: null,
  result: { stop: null },
  guard: null,
  ...changes,
});

describe('how a run ended', () => {
  it.each<[string, Partial<Run>, string, RegExp | null]>([
    ['complete', {}, 'complete', null],
    ['aborted by the caller', { result: { stop: { cause: 'aborted', reason: 'by you' } } }, 'aborted', /^by you$/],
    ['time limit', { result: { stop: { cause: 'timeout', reason: '60 s' } } }, 'timeout', /^60 s$/],
    ['the guard, in time', { result: { stop: { cause: 'guard', reason: 'low' } } }, 'stopped', /^low$/],
    ['killed after an abort', { end: 'aborted', reason: 'killed', result: null }, 'aborted', /^killed$/],
    ['vanished', { end: 'lost', reason: 'SIGKILL', result: null }, 'lost', /^SIGKILL$/],
    [
      'the guard had to end the process',
      { end: 'lost', reason: 'exit 6', result: null, guard: { ...trip, reason: 'floor', left: true } },
      'stopped',
      /MemAvailable 7\.00 GiB.* fell below the floor of 8\.00 GiB.*the process exited$/,
    ],
    [
      'the parent was gone',
      { end: 'lost', reason: 'exit 6', result: null, guard: { ...trip, reason: 'parent', left: true } },
      'lost',
      /^exit 6$/,
    ],
  ])('%s', (_, changes, state, reason) => {
    const outcome = runOutcome(run(changes));
    expect(outcome.state).toBe(state);
    if (reason === null) expect(outcome.reason).toBeNull();
    else expect(outcome.reason).toMatch(reason);
  });
});
