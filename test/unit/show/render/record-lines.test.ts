/** A recording as JSON Lines: every line an object with its type and session, in the order of time. */
import { expect, it } from 'vitest';
import { recordJsonLines } from '../../../../lib/show/render/record-lines.ts';
import { recordOf, sessionOf } from '../../../support/reports.ts';

type Line = { type: string; session?: string; at?: string; text?: string };

it('has a line for the session, then each point, mark and message at its time', () => {
  const problem = { segment: '1.umarec', offset: 8, bytes: 16, message: 'damaged' };
  const text = recordJsonLines(
    recordOf({ sessions: [sessionOf({ id: 'a' }), sessionOf({ id: 'b' })], problems: [problem] }),
  );
  expect(text.endsWith('\n')).toBe(true);
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  const counts = new Map<string, number>();
  for (const { type } of lines) counts.set(type, (counts.get(type) ?? 0) + 1);
  expect([...counts].sort()).toEqual([
    ['kernel', 2],
    ['mark', 4],
    ['note', 2],
    ['plateau', 2],
    ['point', 1200],
    ['problem', 1],
    ['process', 10],
    ['session', 2],
    ['transient', 2],
  ]);
  for (const session of ['a', 'b']) {
    const own = lines.filter((line) => line.session === session);
    expect(own[0]).toMatchObject({ type: 'session', end: 'machine-lost', belowFloorMs: 3000 });
    expect(own[0]).not.toHaveProperty('series');
    const times = own.slice(1).map(({ at }) => at ?? '');
    expect(times).toEqual([...times].sort());
  }
  const mark = lines.findIndex(({ type }) => type === 'mark');
  expect(lines[mark]).toMatchObject({ text: 'load begins', pid: 4242, at: '2026-11-20T18:01:40.000Z' });
  expect(lines[mark - 1]).toMatchObject({ type: 'point', at: '2026-11-20T18:01:40.000Z' });
  expect(lines.at(-1)).toEqual({ type: 'problem', ...problem });
});
