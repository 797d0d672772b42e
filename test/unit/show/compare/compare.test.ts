/** compare(): what changed between two documents, unknown beside 0, and documents that cannot be compared. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compare } from '../../../../lib/show/compare/index.ts';
import { createPaint } from '../../../../lib/show/render/paint.ts';
import { comparePage } from '../../../../lib/show/render/text/compare.ts';
import { widthOf } from '../../../../lib/show/render/text-layout.ts';
import { toHtml } from '../../../../lib/show/report/index.ts';
import type {
  Comparable,
  CompareReport,
  ProcessesReport,
  ProcessGroup,
  RecordReport,
  Snapshot,
  SweepReport,
} from '../../../../lib/types/index.ts';
import { recordOf, sessionOf, stepOf, sweepOf } from '../../../support/reports.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { changed, type MachineFixture, snapshotOf } from '../../../support/snapshots.ts';
import { GiB } from '../../../support/units.ts';

async function compared<T extends Comparable>(a: T, b: T): Promise<CompareReport> {
  const report = await compare(a, b);
  parseDocument(JSON.stringify(report));
  return report;
}

const rowsOf = ({ rows }: CompareReport, section: string) =>
  rows.filter((row) => row.section === section).map(({ a, b, change, name }) => [name, a, b, change]);

const vllm = (gpuBytes: number | null, pid = 7) => ({ pid, name: 'vllm', gpuBytes });
const of = (free: number, processes: MachineFixture['processes'] = []): MachineFixture => ({
  host: { free: free * GiB, available: (free + 4) * GiB },
  processes,
});

describe('two snapshots', () => {
  it('say what can be loaded, who grew, and where the memory went, the largest first', async () => {
    const report = await compared(snapshotOf(of(107)), snapshotOf(of(37, [vllm(60 * GiB), { ...vllm(GiB), pid: 8 }])));
    expect(report.direction).toBe('less');
    expect(report.summary).toMatch(
      /^7[0-9]\.\d GiB less can be loaded in B: .* GiB, and .* GiB in A\. vllm \(7\) holds 60\.0 GiB more GPU memory, vllm \(8\) 1\.0 GiB more\.$/,
    );
    expect(rowsOf(report, 'programs')).toEqual([
      ['vllm (7)', 0, 60 * GiB, 60 * GiB],
      ['vllm (8)', 0, GiB, GiB],
    ]);
    expect(rowsOf(report, 'memory')[0]).toEqual(['free', 107 * GiB, 37 * GiB, -70 * GiB]);
    expect(report.a.verdict?.level).toBe('ok');
    expect(report.findings).toContainEqual(expect.objectContaining({ id: 'gpu.programs', in: 'b' }));
    const sizes = rowsOf(report, 'memory').map(([, , , change]) => Math.abs(Number(change)));
    expect(sizes).toEqual([...sizes].sort((x, y) => y - x));
  });

  it('of the same machine at the same time have nothing to say', async () => {
    const report = await compared(snapshotOf(of(100)), snapshotOf(of(100)));
    expect(report).toMatchObject({ direction: 'alike', rows: [], findings: [], notes: [] });
    expect(report.summary).toBe('As much can be loaded in both.');
    expect(report.same).toBeGreaterThan(15);
  });

  it('keep what is unknown apart from nothing', async () => {
    // In a container the list of programs may lack some: one that is not in it may hold something.
    const hidden = snapshotOf({ ...of(100), container: true });
    const report = await compared(hidden, snapshotOf(of(40, [vllm(60 * GiB)])));
    expect(rowsOf(report, 'programs')).toEqual([['vllm (7)', null, 60 * GiB, null]]);
    expect(report.notes).toEqual([expect.stringMatching(/^A: not every program on GPU 0 is known: /)]);
    const blind = await compared(snapshotOf(of(100)), snapshotOf({ host: { available: null } }));
    expect(blind.direction).toBe('unknown');
    expect(blind.summary).toMatch(/^How much can be loaded is 9\d\.\d GiB in A and unknown in B\.$/);
    expect(rowsOf(blind, 'answer')[0]).toEqual(['can be loaded', expect.any(Number), null, null]);
    const half = await compared(snapshotOf(of(40, [vllm(null)])), snapshotOf(of(40, [vllm(60 * GiB)])));
    expect(rowsOf(half, 'programs')).toEqual([['vllm (7)', null, 60 * GiB, null]]);
    const sums = changed(
      (reading) => {
        reading.bootId = 'another';
      },
      of(40, [vllm(null, 8), vllm(9 * GiB, 9)]),
    );
    const two = await compared(snapshotOf(of(40, [vllm(60 * GiB)])), sums);
    expect(rowsOf(two, 'programs')).toEqual([['vllm', 60 * GiB, null, null]]);
  });

  it('of two boots match programs by name, and say so; of two machines, too', async () => {
    const after = changed(
      (reading) => {
        reading.bootId = 'another';
      },
      of(37, [vllm(60 * GiB, 900)]),
    );
    const report = await compared(snapshotOf(of(47, [vllm(50 * GiB)])), after);
    expect(rowsOf(report, 'programs')).toEqual([['vllm', 50 * GiB, 60 * GiB, 10 * GiB]]);
    expect(report.notes).toEqual(['The two are of different boots: programs are matched by name.']);
    const nowhere = (gpuBytes: number, pid: number) =>
      changed(
        (reading) => {
          reading.bootId = null;
        },
        of(40, [vllm(gpuBytes, pid)]),
      );
    expect(rowsOf(await compared(nowhere(GiB, 7), nowhere(3 * GiB, 7)), 'programs')).toEqual([
      ['vllm', GiB, 3 * GiB, 2 * GiB],
    ]);
    const other = await compared(snapshotOf({ model: 'discrete', ownFree: [GiB, 2 * GiB] }), snapshotOf(of(40)));
    expect(other.notes[0]).toBe('The two are of different GPUs.');
  });

  it('of GPUs with memory of their own compare each', async () => {
    const own = (...ownFree: number[]) => snapshotOf({ model: 'discrete', ownFree: ownFree.map((free) => free * GiB) });
    const report = await compared(own(100, 50), own(100, 20));
    expect(rowsOf(report, 'GPU 0')).toEqual([]);
    const exchanged = changed(
      ({ devices: [first, second] }) => {
        if (first !== undefined && second !== undefined) [first.uuid, second.uuid] = [second.uuid, first.uuid];
      },
      { model: 'discrete', ownFree: [50 * GiB, 100 * GiB] },
    );
    const same = await compared(own(100, 50), exchanged);
    expect([...rowsOf(same, 'GPU 0'), ...rowsOf(same, 'GPU 1')]).toEqual([]);
    expect(rowsOf(report, 'GPU 1')).toContainEqual(['free', 50 * GiB, 20 * GiB, -30 * GiB]);
  });
});

describe('two lists of processes', () => {
  const listOf = (...held: [string, number][]): ProcessesReport =>
    ({
      ...{ schema: 'umaprobe/processes/1', at: '2026-10-07T12:00:00.000Z', simulated: null, total: 9, available: 5 },
      groups: held.map(
        ([name, bytes], index) => ({ id: `tree:${index}`, kind: 'tree', name, held: bytes }) as ProcessGroup,
      ),
      ...{ processes: [], hiddenProcesses: 0, limits: [], unattributed: 1 },
      totals: { anonymous: { total: 4 }, shared: { total: null }, swap: { total: 0 } },
    }) as unknown as ProcessesReport;

  it('add up what has one name', async () => {
    const report = await compared(
      listOf(['python3', 4 * GiB], ['bash', 1]),
      listOf(['python3', GiB], ['python3', 5 * GiB]),
    );
    expect(rowsOf(report, 'programs')).toEqual([
      ['python3', 4 * GiB, 6 * GiB, 2 * GiB],
      ['bash', 1, 0, -1],
    ]);
    expect(report.summary).toBe('As much is available in both. python3 holds 2.0 GiB more memory, bash 1 B less.');
  });

  it('say nothing of what a list may lack', async () => {
    const a = listOf(['bash', 1]);
    for (const incomplete of [
      { ...a, hiddenProcesses: 3 },
      // A file that lacks the number.
      { ...a, hiddenProcesses: undefined as never },
      { ...a, memoryModel: 'unified', totals: { ...a.totals, gpu: { total: null, listed: 0, exact: false } } } as const,
    ])
      expect(rowsOf(await compared(incomplete, listOf(['python3', 5])), 'programs')).toEqual([
        ['bash', 1, 0, -1],
        ['python3', null, 5, null],
      ]);
  });
});

describe('two sweeps', () => {
  const slower = (report: SweepReport, factor: number): SweepReport => ({
    ...report,
    steps: report.steps.map((step) =>
      step.allocMs === null ? step : { ...step, allocMs: { ...step.allocMs, median: step.allocMs.median * factor } },
    ),
  });

  it('say how much longer allocations take, and which size ended otherwise', async () => {
    const a = sweepOf();
    expect((await compared(a, slower(a, 1.02))).direction).toBe('alike');
    const b = slower(a, 2);
    const [first] = b.steps;
    if (first !== undefined) b.steps[0] = { ...first, state: 'out-of-memory', allocMs: null };
    const report = await compared(a, b);
    expect(report).toMatchObject({ direction: 'slower', kind: 'sweep' });
    expect(report.summary).toMatch(/^Allocations take 2\.00 times as long in B\./);
    expect(rowsOf(report, 'steps')).toContainEqual([expect.stringMatching(/, ended$/), 'ok', 'out-of-memory', null]);
    const options = { width: 80, cut: 80, paint: createPaint(0), unicode: true, exact: false, hostName: '' };
    expect(comparePage(report, options).join('\n')).toMatch(/^device 1 GB, ended +ok +out-of-memory$/m);
    expect((await compared(b, a)).direction).toBe('faster');
  });

  it('of other sizes compare none of them', async () => {
    const report = await compared(
      sweepOf({ steps: [stepOf('device', GiB)] }),
      sweepOf({ steps: [stepOf('device', 2 * GiB)] }),
    );
    expect(report).toMatchObject({ direction: 'unknown', notes: ['2 sizes are in one of the two only.'] });
    expect(rowsOf(report, 'steps')).toEqual([]);
  });
});

describe('two recordings', () => {
  it('compare the newest session of each: the lowest memory, and the most that a program held', async () => {
    const course = (highestHeld: number) => [
      { pid: 7, name: 'vllm', highestHeld, highestGpuBytes: null, held: [], gpuBytes: [] },
    ];
    const at = '2026-11-22T09:00:00.000Z';
    const session = (lowest: number, held: number) =>
      sessionOf({
        lowestAvailable: { at, bytes: lowest * GiB },
        processSeries: { at: [], processes: course(held * GiB) },
      });
    const [a, b] = [recordOf({ sessions: [session(50, 5)] }), recordOf({ sessions: [session(1, 1), session(20, 35)] })];
    const report = await compared(a, b);
    expect(report.summary).toBe(
      '30.0 GiB less was available at the lowest in B: 20.0 GiB, and 50.0 GiB in A. vllm holds 30.0 GiB more at its peak.',
    );
    expect(report.notes).toContain('B has 2 sessions; the newest is compared.');
  });
});

describe('what cannot be compared', () => {
  const sweep = sweepOf() as unknown as Snapshot;
  it.each<[unknown, unknown, string]>([
    [null, snapshotOf(), 'a is null; expected a report of snapshot(), processes(), sweep() or readRecord()'],
    [
      snapshotOf(),
      { schema: 'umaprobe/stress/1' },
      'schema of b is "umaprobe/stress/1"; expected one of umaprobe/snapshot/1',
    ],
    [snapshotOf(), { schema: 'umaprobe/snapshot/2' }, 'schema of b is "umaprobe/snapshot/2"; expected one of'],
    [snapshotOf(), { schema: 'constructor' }, 'schema of b is "constructor"'],
    [snapshotOf(), sweep, 'a is umaprobe/snapshot/1, and b is umaprobe/sweep/1; expected two documents of one kind'],
    [snapshotOf(), { ...snapshotOf(), ledger: undefined }, 'b is umaprobe/snapshot/1 without its part "ledger"'],
    [recordOf({ sessions: [] }), recordOf({ sessions: [] }), 'a is a recording without a session'],
  ])('%#: %j', async (a, b, message) => {
    const error = await compare(a as Snapshot, b as Snapshot).catch((reason: unknown) => reason);
    expect((error as Error).message).toContain(message);
    expect((error as { code: string }).code).toMatch(/^ERR_INVALID_ARG_/);
  });
});

describe('the text and the page', () => {
  const name = 'a\x1b[2J<b>';
  const pair = async () =>
    compare(
      snapshotOf({ ...of(107), simulated: 'gb10' }),
      snapshotOf({ ...of(37, [{ pid: 7, name, gpuBytes: 60 * GiB }]), simulated: 'gb10-busy' }),
    );

  it('fit their width, let no name control a terminal, and are ASCII without Unicode', async () => {
    for (const width of [40, 80, 160]) {
      const options = { width, cut: width, paint: createPaint(0), unicode: false, exact: false, hostName: '' };
      const lines = comparePage(await pair(), options);
      for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width);
      expect(lines.join('\n').replace(/[…’×]/g, '')).toMatch(/^[\x20-\x7e\n]*$/);
      expect(lines.join('\n')).toMatch(/^LESS {2}7\d\.\d GiB less can/m);
    }
  });

  it('say which of the two is simulated', async () => {
    const options = { width: 80, cut: 80, paint: createPaint(0), unicode: true, exact: false, hostName: '' };
    const mixed = await compare(snapshotOf(of(50)), snapshotOf({ ...of(40), simulated: 'gb10' }));
    const text = comparePage(mixed, options).join('\n');
    expect(text).toContain('B is of the simulated machine gb10: its numbers come from no hardware.');
    expect(text).not.toContain('SIMULATED');
    expect(comparePage(await pair(), options)[0]).toContain('SIMULATED  machine gb10 and gb10-busy');
  });

  it('is one page with every row, escaped, and the document', async () => {
    const report = await pair();
    const page = await toHtml(report);
    const body = page.slice(page.indexOf('<body>'), page.indexOf('<script'));
    expect(body).toContain('SIMULATED · machine gb10 and gb10-busy');
    expect(body).toContain('a\ufffd[2J&lt;b&gt; (7)');
    expect(page.match(/<th scope="row">/g)).toHaveLength(report.rows.length);
    const carried = /<script type="application\/json" id="report">(.*?)<\/script>/s.exec(page)?.[1] ?? '';
    expect(JSON.parse(carried)).toEqual(report);
  });
});

it('has one sentence for a document of which a part is something else, or compares what is left', async () => {
  const options = { width: 80, cut: 80, paint: createPaint(0), unicode: true, exact: false, hostName: '' };
  const documents = [snapshotOf(of(37, [vllm(GiB)])), sweepOf(), recordOf()] as const;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...documents),
      fc.array(fc.nat(), { minLength: 1, maxLength: 5 }),
      fc.constantFrom<unknown>(null, 'text', 7, [], {}, [null], undefined),
      async (whole, path, value) => {
        const broken = JSON.parse(JSON.stringify(whole)) as Record<string, unknown>;
        let part: Record<string, unknown> = broken;
        for (const [depth, step] of path.entries()) {
          const keys = Object.keys(part).filter((key) => key !== 'schema');
          const key = keys[step % keys.length];
          if (key === undefined) break;
          const next = part[key];
          if (depth < path.length - 1 && typeof next === 'object' && next !== null)
            part = next as Record<string, unknown>;
          else {
            part[key] = value;
            break;
          }
        }
        const answer = await compare(whole as Snapshot, broken as unknown as Snapshot).catch((error: unknown) => error);
        if (answer instanceof Error) expect(answer).toMatchObject({ code: expect.stringMatching(/^ERR_INVALID_ARG_/) });
        else comparePage(answer as CompareReport, options);
      },
    ),
    { numRuns: 300 },
  );
});

it('reads a document again that JSON has kept', async () => {
  const again = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
  const [a, b]: [RecordReport, RecordReport] = [
    recordOf({ sessions: [sessionOf({})] }),
    recordOf({ sessions: [sessionOf({ total: 1 })] }),
  ];
  expect(await compare(again(a), again(b))).toEqual(await compare(a, b));
});
