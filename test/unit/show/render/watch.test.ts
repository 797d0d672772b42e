/** The live picture without a terminal: the graph over a made-up time, the list, and windows of any size. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RenderOptions } from '../../../../lib/show/render/options.ts';
import { createPaint } from '../../../../lib/show/render/paint.ts';
import { type WatchView, watchPage } from '../../../../lib/show/render/text/watch.ts';
import { addReading, graphLines, type History } from '../../../../lib/show/render/text/watch-history.ts';
import { entriesOf, type ProcessView, processLines } from '../../../../lib/show/render/text/watch-processes.ts';
import { widthOf } from '../../../../lib/show/render/text-layout.ts';
import type { ProcessesReport, ProcessGroup, ProcessMemory } from '../../../../lib/types/index.ts';
import { type MachineFixture, snapshotOf } from '../../../support/snapshots.ts';
import { GiB, MiB } from '../../../support/units.ts';

const optionsAt = (width: number, extra: Partial<RenderOptions> = {}): RenderOptions => ({
  ...{ width, cut: width, paint: createPaint(0), unicode: true, exact: false, hostName: 'spark-1' },
  ...extra,
});

const START = Date.parse('2026-10-07T12:00:00Z');

/** A reading a second; null: there is none. */
function historyOf(fixtures: readonly (MachineFixture | null)[]): History {
  const history: History = { points: [], marks: [] };
  for (const [second, fixture] of fixtures.entries())
    if (fixture !== null)
      addReading(history, { ...snapshotOf(fixture), at: new Date(START + 1000 * second).toISOString() });
  return history;
}

const freeOf = (free: number): MachineFixture => ({ host: { free: free * GiB, available: free * GiB } });
const GRAPH = { intervalMs: 1000, span: 120, rows: 9 };

function processOf(pid: number, name: string, held: number, extra: Partial<ProcessMemory> = {}): ProcessMemory {
  return {
    ...{ pid, parentPid: 1, name, command: null, uid: 1000, group: `tree:${pid}`, held, heldFrom: 'pss' },
    ...{ rss: held, anonymous: held, file: 0, shared: 0, swap: 0, locked: 0, peakRss: held, pss: null, gpuBytes: 0 },
    ...extra,
  } as ProcessMemory;
}

function reportOf(...lists: ProcessMemory[][]): ProcessesReport {
  const groups = lists.map(([first, ...rest]): ProcessGroup => {
    const all = [first as ProcessMemory, ...rest];
    const sum = (name: 'held' | 'gpuBytes' | 'swap') => all.reduce((total, each) => total + (each[name] ?? 0), 0);
    return {
      ...{ id: all[0]?.group ?? '', kind: 'tree', name: all[0]?.name ?? '', rootPid: all.at(-1)?.pid ?? 0 },
      ...{ pids: all.map(({ pid }) => pid), held: sum('held'), exact: true, anonymous: 0, shared: 0, file: 0 },
      ...{ swap: sum('swap'), gpuBytes: sum('gpuBytes'), pools: [] },
    };
  });
  const none = { total: 0, listed: 0, exact: true };
  return {
    ...{ schema: 'umaprobe/processes/1', at: '', simulated: null, memoryModel: 'unified', total: 0, available: null },
    ...{
      groups,
      processes: lists.flat(),
      sharedMemory: [],
      unattributed: 0,
      hiddenProcesses: 0,
      limits: [],
      from: {},
      durationMs: 0,
    },
    totals: { anonymous: none, shared: none, gpu: none, swap: none },
  };
}

const REPORT = reportOf(
  [
    processOf(31, 'VLLM::EngineCor', 60 * GiB, { group: 'tree:30', gpuBytes: 50 * GiB, parentPid: 30 }),
    processOf(30, 'vllm', 2 * GiB, { group: 'tree:30' }),
  ],
  [processOf(40, 'a\x1b[2Jb\u202ec', GiB, { swap: 5 * GiB })],
  ...Array.from({ length: 20 }, (_, index) => [processOf(100 + index, `worker-${index}`, (20 - index) * MiB)]),
);
const LIST: ProcessView = { sort: 'held', filter: '', opened: new Set(), selected: null, before: null };
const viewOf = (fixture: MachineFixture, extra: Partial<WatchView> = {}): WatchView => ({
  ...{ snapshot: snapshotOf(fixture), history: historyOf([fixture, fixture, fixture]), list: LIST, processes: REPORT },
  ...{ graph: GRAPH, full: false, ...extra },
});

describe('the graph', () => {
  it('shows a fall, a gap where there was no reading, marks and their times, and its scale', () => {
    const fall = [...Array(40).fill(freeOf(100)), ...Array(20).fill(freeOf(20)), ...Array(20).fill(null)];
    const history = historyOf([...fall, ...Array(20).fill({ ...freeOf(60), full: 5 })]);
    history.marks.push({ atMs: START + 40_000, text: '12:00:40' }, { atMs: START - 60_000_000, text: 'before' });
    expect(graphLines(history, GRAPH, optionsAt(66))).toEqual([
      'GiB, last 2 min  a available 60.0  f free 60.0  G GPU 0.0',
      'stalled 5.0 %',
      '120 ┤          ⢀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀┊',
      '    │                              ⢸┊',
      '    │                              ⠘⡄                   ⠒⠒⠒⠒⠒⠒⠒f⠒a',
      '    │                               ⡇',
      '  0 ┤          ⢀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣉⣉⣉⣉⣉⣉⣉⣉⣉⣉          ⣀⣀⣀⣀⣀G⣀⣀⣀⣀',
      '10% │           ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁          ▅▅▅▅▅▅▅▅▅▅',
      '     -2 min                     12:00:40                       now',
    ]);
  });

  it('has no line where a number is unknown', () => {
    const lines = graphLines(historyOf(Array(50).fill({ host: { available: null } })), GRAPH, optionsAt(80));
    expect(lines.join('\n')).toContain('a available unknown');
    expect(lines.slice(1).join('\n')).not.toContain('a');
  });

  it('of GPUs with memory of their own shows what is free on each', () => {
    const lines = graphLines(
      historyOf(Array(50).fill({ model: 'discrete', ownFree: [100 * GiB, 20 * GiB] })),
      GRAPH,
      optionsAt(80),
    );
    expect(lines[0]).toBe('GiB, last 2 min  0 free on GPU 0 100.0  1 free on GPU 1 20.0  stalled 0.0 %');
    expect(lines[1]).toMatch(/^140 ┤/);
  });
});

describe('the list', () => {
  const shown = (view: Partial<ProcessView>, rows: number) => {
    const list = { ...LIST, ...view };
    return processLines(REPORT, entriesOf(REPORT, list), list, optionsAt(60), rows);
  };

  it('keeps the selected row in sight, and says which rows are shown', () => {
    const lines = shown({ selected: 'tree:110' }, 8);
    expect(lines).toHaveLength(8);
    expect(lines[0]).toBe('WHO HOLDS MEMORY · sorted by held · 8 to 13 of 22');
    expect(lines.at(-1)).toMatch(/^> 10\.0 MiB .*110 {2}worker-10/);
    expect(shown({ selected: 'no such row' }, 8)[2]).toContain('VLLM');
    const limited = processLines({ ...REPORT, limits: ['…'] }, [], LIST, optionsAt(90), 8);
    expect(limited[0]).toBe('WHO HOLDS MEMORY · sorted by held · not all is known: umaprobe processes says what');
  });

  it('sorts, filters by any process of a group, and lists its processes', () => {
    expect(entriesOf(REPORT, { ...LIST, sort: 'swap' })[0]?.pid).toBe(40);
    expect(entriesOf(REPORT, { ...LIST, sort: 'name' })[0]?.pid).toBe(40);
    const before = new Map([['tree:119', 0], ...REPORT.groups.slice(0, 21).map(({ held, id }) => [id, held] as const)]);
    expect(entriesOf(REPORT, { ...LIST, sort: 'change', before })[0]?.pid).toBe(119);
    const filtered = entriesOf(REPORT, { ...LIST, filter: 'VLLM', opened: new Set(['tree:30']) });
    expect(filtered.map(({ key, pid }) => [key, pid])).toEqual([
      ['tree:30', 30],
      ['pid:31', 31],
      ['pid:30', 30],
    ]);
    expect(entriesOf(REPORT, { ...LIST, filter: '105' }).map(({ pid }) => pid)).toEqual([105]);
    expect(shown({ filter: 'no such' }, 9)).toContain('  No process matches.');
  });

  it('lets no process name control the terminal', () => {
    const text = shown({ filter: 'b' }, 9).join('\n');
    expect(text).toContain('a?[2Jb?c');
    expect(text).not.toContain('\x1b');
  });
});

describe('the picture', () => {
  const STORIES: MachineFixture[] = [
    { simulated: 'gb10' },
    { host: { free: 2 * GiB, available: 3 * GiB }, full: 20 },
    { model: 'discrete', ownFree: [GiB, 9 * GiB] },
    { gpu: false },
  ];

  it('fits every window, and begins with the verdict', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 60, max: 220 }),
        fc.integer({ min: 1, max: 80 }),
        fc.constantFrom(...STORIES),
        fc.record({
          full: fc.boolean(),
          processes: fc.constantFrom(REPORT, null, 'NVML: no answer'),
        }),
        (width, rows, fixture, extra) => {
          const lines = watchPage(viewOf(fixture, extra), optionsAt(width), rows);
          expect(lines.length).toBeLessThanOrEqual(rows);
          // Every counter may be wider, and pressure below 60 columns: the terminal's part cuts both.
          if (!extra.full) for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width);
          if (rows > 1) expect(lines.join('\n')).toMatch(/^(OK|NOTE|WARNING|DANGER) {2}/m);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('keeps the verdict and its numbers longest', () => {
    const busy: MachineFixture = {
      host: { free: 30 * GiB, available: 34 * GiB },
      processes: [{ pid: 4711, name: 'VLLM::Worker', gpuBytes: 70 * GiB }],
    };
    for (const rows of [5, 8, 10, 16, 22, 30, 50]) {
      const lines = watchPage(viewOf(busy), optionsAt(80), rows);
      expect(lines[0]).toMatch(/^OK {2}25\.0\d GiB/);
      expect(lines.join('\n')).toMatch(/Free this instant +30\.0 GiB[\s\S]*Can become free +34\.0 GiB/);
    }
  });

  it('uses the rows of a high window', () => {
    for (const rows of [22, 38, 58]) {
      const lines = watchPage(viewOf({}), optionsAt(120), rows);
      expect(lines.length).toBe(rows);
      expect(lines.join('\n')).toMatch(/GiB, last 2 min[\s\S]*held +GPU/);
    }
  });

  it('is ASCII without Unicode', () => {
    const view = viewOf({ simulated: 'gb10' }, { processes: reportOf([processOf(1, 'x', GiB)]) });
    const text = watchPage(view, optionsAt(100, { unicode: false }), 50).join('\n');
    expect(text.replace(/[…×’]/g, '')).toMatch(/^[\x20-\x7e\n]*$/);
    expect(text).toMatch(/ \| +f\.a\n/);
  });
});
