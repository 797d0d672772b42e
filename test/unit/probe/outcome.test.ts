import { describe, expect, it } from 'vitest';
import { endOf } from '../../../lib/probe/outcome.ts';

type Run = Parameters<typeof endOf>[0];
const GiB = 2 ** 30;
const trip = { memAvailable: 7 * GiB, pressureFull: 0, stoppedAfterMs: null, freedAfterMs: null };

const run = (changes: Partial<Run>): Run => ({
  header: { floor: { bytes: 8 * GiB, from: '' } } as Run['header'],
  end: 'done',
  reason: null,
  result: { stop: null },
  guard: null,
  ...changes,
});

describe('how a run ended', () => {
  it.each<[string, Partial<Run>, string, RegExp | null]>([
    ['all was done', {}, 'complete', null],
    ['the caller', { result: { stop: { cause: 'aborted', reason: 'by you' } } }, 'aborted', /^by you$/],
    ['time', { result: { stop: { cause: 'timeout', reason: '60 s' } } }, 'timeout', /^60 s$/],
    ['the guard, in time', { result: { stop: { cause: 'guard', reason: 'low' } } }, 'stopped', /^low$/],
    ['killed after an abort', { end: 'aborted', reason: 'killed', result: null }, 'aborted', /^killed$/],
    ['vanished', { end: 'lost', reason: 'SIGKILL', result: null }, 'lost', /^SIGKILL$/],
    [
      'the guard had to end the process',
      { end: 'lost', reason: 'exit 6', result: null, guard: { ...trip, reason: 'floor', left: true } },
      'stopped',
      /MemAvailable 7\.00 GiB.* fell below the floor of 8\.00 GiB.*the process left$/,
    ],
    [
      'the parent was gone',
      { end: 'lost', reason: 'exit 6', result: null, guard: { ...trip, reason: 'parent', left: true } },
      'lost',
      /^exit 6$/,
    ],
  ])('%s', (_, changes, state, words) => {
    const end = endOf(run(changes));
    expect(end.state).toBe(state);
    if (words === null) expect(end.reason).toBeNull();
    else expect(end.reason).toMatch(words);
  });
});
