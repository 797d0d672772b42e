import { expect, it } from 'vitest';
import { type MachineStops, type Stop, stopsMarkup, stopsOf } from '../../../browser/serve/stops.ts';
import { sessionOf } from '../../support/reports.ts';

const stopped = stopsOf([sessionOf()]);
const known = (host: string, stops: readonly Stop[]): MachineStops => ({ host, stops, knowsStops: true });
const unknown = (host: string, stops: readonly Stop[] = []): MachineStops => ({ host, stops, knowsStops: false });
const textOf = (machines: Parameters<typeof stopsMarkup>[0]): string =>
  (stopsMarkup(machines)?.text ?? '').replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');

it('ends that nobody wrote are stops; how it ended is unknown is one, too', () => {
  const ends = ['running', 'complete', 'shut-down', 'machine-lost', 'lost', 'unknown'] as const;
  expect(stopsOf(ends.map((end) => sessionOf({ end }))).map(({ label }) => label)).toEqual([
    'MACHINE LOST',
    'LOST',
    'UNKNOWN',
  ]);
});

it('names the machine, its lowest memory, and who held the most then', () => {
  expect(textOf([known('a', stopped)])).toMatch(
    /a MACHINE LOST 2026-11-20 18:10:00 12\.9 GiB at 18:09:59\.000 python3 4242, 82\.0 GiB The machine stopped without/,
  );
});

it('what was not recorded is unknown, and never none', () => {
  const bare = stopsOf([sessionOf({ end: 'lost', lowestAvailable: null, lowestProcesses: null })]);
  expect(textOf([known('a', bare)])).toMatch(/LOST 2026-11-20 18:10:00 unknown unknown The/);
  expect(textOf([unknown('a'), unknown('b')])).toBe(' Stops of the last day Not known of a, b. ');
  expect(textOf([known('a', []), unknown('b')])).toContain('ended by one. Not known of b.');
});

it('of a machine that is gone those that are known stay', () => {
  expect(textOf([unknown('a', stopped), known('b', [])])).toMatch(/a MACHINE LOST .* Not known of a\. $/);
});

it('of one machine without a stop nothing is said', () => {
  for (const machine of [known('a', []), unknown('a')]) expect(stopsMarkup([machine])).toBeNull();
});

it('are those of all machines, newest first', () => {
  const later = stopsOf([sessionOf({ lastAt: '2026-11-20T19:00:00.000Z' })]);
  const text = textOf([known('a', stopped), known('b', later), known('c', [])]);
  expect(text).toMatch(/ b MACHINE LOST 2026.* a MACHINE LOST 2026/);
  expect(text).not.toContain('Not known');
});

it('escapes names of other machines', () => {
  const hostile = stopsOf([
    sessionOf({ lowestProcesses: { at: '', processes: [{ pid: 1, name: '<img src=x>', held: 1, gpuBytes: null }] } }),
  ]);
  expect(stopsMarkup([known('a', hostile)])?.text).toContain('&lt;img src=x&gt;');
});
