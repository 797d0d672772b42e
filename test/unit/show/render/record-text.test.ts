/** What the terminal and the page say of a recording: who held memory, what grew, and how much is not shown. */
import { describe, expect, it } from 'vitest';
import { recordHtml } from '../../../../lib/show/render/html/record.ts';
import { createPaint } from '../../../../lib/show/render/paint.ts';
import { recordPage } from '../../../../lib/show/render/text/record.ts';
import type { RecordedGrowth, RecordedSession } from '../../../../lib/types/index.ts';
import { recordOf, recordTime, sessionOf } from '../../../support/reports.ts';
import { GiB } from '../../../support/units.ts';

const OPTIONS = { width: 100, cut: 100, paint: createPaint(0), unicode: true, exact: false, hostName: 'spark' };
const assets = { script: '', style: '', version: '1' };

const text = (session: Partial<RecordedSession>) =>
  recordPage(recordOf({ sessions: [sessionOf(session)] }), OPTIONS).join('\n');
const page = (session: Partial<RecordedSession>) => recordHtml(recordOf({ sessions: [sessionOf(session)] }), assets);

const GROWTH: RecordedGrowth = {
  pid: 1234,
  name: 'python3',
  memory: 'host',
  bytesPerHour: 1.8 * GiB,
  bytes: 16.2 * GiB,
  from: recordTime(0),
  to: recordTime(9 * 3600),
  usedUpInMs: 9.4 * 3_600_000,
};

it.each([0.9, 1.02, 3, 60, 100_000])('an axis of %s s repeats no label', (seconds) => {
  const series = [0, seconds].map((at) => ({
    ...sessionOf().series[0],
    at: recordTime(at),
    available: 0.3 * GiB,
    lowestFree: 0.1 * GiB,
  }));
  const lines = text({ startedAt: recordTime(0), series: series as RecordedSession['series'] }).split('\n');
  const rule = lines.findIndex((line) => line.trimStart().startsWith('└'));
  const below = lines[rule + 1]?.trim().split(/ {2,}/) ?? [];
  const beside = lines.slice(0, rule).flatMap((line) => /^ *([\d.]+) ┤/.exec(line)?.[1] ?? []);
  for (const labels of [below, beside]) {
    expect(labels.length).toBeGreaterThan(1);
    expect(labels).toEqual([...new Set(labels)]);
  }
});

it('a folder without a recording says how to begin one, and where the kernel’s log is', () => {
  const said = recordPage(recordOf({ sessions: [] }), OPTIONS)
    .join(' ')
    .replaceAll(/\s+/g, ' ');
  expect(said).toMatch(/^NONE Nothing was recorded here: begin with umaprobe record.* journalctl -k -b -1/);
});

it('the last seconds name the share of some and of all tasks in words', () => {
  expect(text({ end: 'machine-lost' })).toMatch(/the last seconds +free GiB +available +some wait +all wait +swap\n/);
});

describe('who held memory at the lowest point', () => {
  it('is a list of its own, with its age', () => {
    const { lowestAvailable } = sessionOf();
    const lowest = Date.parse(lowestAvailable?.at ?? '');
    const at = new Date(lowest - 2100).toISOString();
    const lowestProcesses = { at, processes: [{ pid: 77, name: 'loader', held: 70 * GiB, gpuBytes: 30 * GiB }] };
    expect(text({ lowestProcesses })).toMatch(
      /held +GPU +pid +largest processes 2\.10 s before the lowest available\n *70\.0 GiB +30\.0 GiB +77 +loader\n/,
    );
    expect(text({ lowestProcesses })).toMatch(/largest processes at the end, \d\d:/);
    expect(page({ lowestProcesses })).toMatch(/2\.10 s before the lowest available[\s\S]*loader/);
    const after = { ...lowestProcesses, at: new Date(lowest + 1300).toISOString() };
    expect(text({ lowestProcesses: after })).toContain('largest processes 1.30 s after the lowest available');
  });
  it('is told once where it is the last list', () => {
    const { processes } = sessionOf();
    expect(text({ lowestProcesses: processes }).match(/largest processes/g)).toHaveLength(1);
    expect(text({ lowestProcesses: null, processes: null })).not.toContain('largest processes');
  });
});

describe('a growth', () => {
  it('is told with what is left at this rate', () => {
    const sentence =
      /python3 \(1234\) grew by 1\.8 GiB per hour over 9 h 0 min, by 16\.2 GiB in all\. At this rate what was left above the floor is used up in 9 h 24 min\./;
    expect(text({ growth: [GROWTH] })).toMatch(/^GROWS {2}python3/m);
    expect(text({ growth: [GROWTH] }).replaceAll(/\s+/g, ' ')).toMatch(sentence);
    expect(page({ growth: [GROWTH] })).toMatch(sentence);
    expect(text({ growth: [] })).not.toContain('GROWS');
  });
  it('of GPU memory, and of a process that ended, says so', () =>
    expect(text({ growth: [{ ...GROWTH, memory: 'gpu', usedUpInMs: null }] }).replaceAll(/\s+/g, ' ')).toContain(
      'python3 (1234) grew by 1.8 GiB of GPU memory per hour over 9 h 0 min, by 16.2 GiB in all.',
    ));
});

describe('marks', () => {
  const marks = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ at: recordTime(index), text: `step ${index}`, pid: null }));
  it('are all listed, or the rest is counted', () => {
    expect(text({ marks: marks(10) })).not.toContain('earlier');
    expect(text({ marks: marks(22) })).toContain('and 12 earlier ones; --json lists all');
    const many = { marks: marks(10_000), leftOut: { marks: 5, kernelMessages: 0, notes: 0, transients: 0 } };
    expect(text(many)).toContain('and 9,995 earlier ones; --json lists the newest 10,000');
    expect(page(many)).toContain('The newest 10,000 of 10,005, oldest first.');
  });
  it('and so are messages of the kernel, notes and transients', () => {
    const said = marks(7);
    const [transient] = sessionOf().transients;
    const many = text({
      kernelMessages: said,
      notes: said,
      leftOut: { marks: 0, kernelMessages: 300, notes: 0, transients: 90 },
      transients: Array.from({ length: 8 }, () => transient).filter((entry) => entry !== undefined),
    });
    expect(page({ leftOut: { marks: 0, kernelMessages: 0, notes: 0, transients: 90 } })).toMatch(
      /by themselves, the \d+ deepest of 9\d\./,
    );
    expect(many).toContain('and 302 earlier ones; --json lists the newest 7');
    expect(many).toContain('and 2 earlier ones; --json lists all');
    expect(many).toContain('; and 93 more');
  });
});
