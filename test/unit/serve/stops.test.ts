import { expect, it } from 'vitest';
import { stopsMarkup, stopsOf } from '../../../browser/serve/stops.ts';
import { sessionOf } from '../../support/reports.ts';

const stopped = stopsOf([sessionOf()]);
const textOf = (machines: Parameters<typeof stopsMarkup>[0]): string =>
  (stopsMarkup(machines)?.text ?? '').replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');

it('ends that nobody wrote are stops; how it ended is unknown is one, too', () => {
  const ends = ['running', 'ended', 'shut-down', 'stopped', 'killed', 'unknown'] as const;
  expect(stopsOf(ends.map((end) => sessionOf({ end }))).map(({ label }) => label)).toEqual([
    'STOPPED',
    'KILLED',
    'UNKNOWN',
  ]);
});

it('names the machine, its lowest memory, and who held the most then', () => {
  expect(textOf([{ host: 'a', stops: stopped }])).toMatch(
    /a STOPPED 2026-11-20 18:10:00 12\.9 GiB at 18:09:59\.000 python3 4242, 82\.0 GiB The machine stopped without/,
  );
});

it('what was not recorded is unknown, and never none', () => {
  const bare = stopsOf([sessionOf({ end: 'killed', lowestAvailable: null, lowestProcesses: null })]);
  expect(textOf([{ host: 'a', stops: bare }])).toMatch(/KILLED 2026-11-20 18:10:00 unknown unknown The/);
  expect(
    textOf([
      { host: 'a', stops: null },
      { host: 'b', stops: null },
    ]),
  ).toBe(' Stops of the last day Not known of a, b. ');
  expect(
    textOf([
      { host: 'a', stops: [] },
      { host: 'b', stops: null },
    ]),
  ).toContain('ended by one. Not known of b.');
});

it('of one machine without a stop nothing is said', () => {
  for (const stops of [[], null]) expect(stopsMarkup([{ host: 'a', stops }])).toBeNull();
});

it('are those of all machines, newest first', () => {
  const later = stopsOf([sessionOf({ lastAt: '2026-11-20T19:00:00.000Z' })]);
  const text = textOf([
    { host: 'a', stops: stopped },
    { host: 'b', stops: later },
    { host: 'c', stops: [] },
  ]);
  expect(text).toMatch(/ b STOPPED 2026.* a STOPPED 2026/);
  expect(text).not.toContain('Not known');
});

it('escapes names of other machines', () => {
  const hostile = stopsOf([
    sessionOf({ lowestProcesses: { at: '', processes: [{ pid: 1, name: '<img src=x>', held: 1, gpuBytes: null }] } }),
  ]);
  expect(stopsMarkup([{ host: 'a', stops: hostile }])?.text).toContain('&lt;img src=x&gt;');
});
