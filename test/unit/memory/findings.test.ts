/** Every finding: a machine that shows it, and one that nearly does. */
import { describe, expect, it } from 'vitest';
import { explainReport } from '../../../lib/explain/report.ts';
import { findings, notJudged } from '../../../lib/memory/findings/index.ts';
import type { MemoryFinding, ProcessesReport, ProcessMemory, Snapshot } from '../../../lib/types/index.ts';
import { snapshotOf } from '../../support/snapshots.ts';

const GiB = 2 ** 30;
const MiB = 2 ** 20;
const TOTAL = snapshotOf().host.total;

function processOf(pid: number, values: Partial<ProcessMemory>): ProcessMemory {
  const unknown = { parentPid: 1, command: null, uid: 0, held: null, heldFrom: null, rss: null, swap: null } as const;
  const amounts = { anonymous: null, file: null, shared: null, locked: null, peakRss: null, pss: null, gpuBytes: null };
  return { pid, name: 'python3', group: `tree:${pid}`, ...unknown, ...amounts, ...values };
}

function processesOf(list: ProcessMemory[], shared: ProcessesReport['sharedMemory'] = []): ProcessesReport {
  const none = { total: null, listed: 0, exact: true };
  return {
    schema: 'umaprobe/processes/1',
    at: '2026-10-07T12:34:56.789Z',
    simulated: null,
    memoryModel: 'unified',
    total: TOTAL,
    available: null,
    groups: [],
    processes: list,
    sharedMemory: shared,
    totals: { anonymous: none, shared: none, gpu: none, swap: none },
    unattributed: 0,
    limits: [],
    from: {},
    durationMs: 1,
  };
}

/** A snapshot with more or less in no counter: what is taken off AnonPages, which the fixture has. */
function hiding(bytes: number, fixture: Parameters<typeof snapshotOf>[0] = {}): Snapshot {
  const snapshot = snapshotOf(fixture);
  const rest = snapshot.ledger.entries.find(({ label }) => label === 'unattributed');
  const free = snapshot.ledger.entries.find(({ label }) => label === 'free');
  if (rest === undefined || free === undefined) throw new Error('the ledger has no such row');
  free.bytes -= bytes - rest.bytes;
  rest.bytes = bytes;
  return snapshot;
}

type Machine = Snapshot | { snapshot: Snapshot; processes: ProcessesReport };

interface Case {
  code: MemoryFinding['code'];
  has: Machine;
  /** The same, but not enough for a finding. */
  nearly: Machine;
  bytes: number | null;
  summary: RegExp;
  command?: RegExp | null;
  gains?: number | null;
}

const CASES: readonly Case[] = [
  {
    code: 'page-cache',
    has: snapshotOf({ host: { free: 7 * GiB, available: 112 * GiB, cached: 106 * GiB } }),
    nearly: snapshotOf({ host: { free: 103 * GiB, available: 112 * GiB } }),
    bytes: 105 * GiB,
    summary:
      /^105\.00 of 119\.69 GiB look used but hold copies of files \(page cache\), which give way to a program\.$/,
    command: /^sync; echo 1 \| sudo tee/,
    gains: 105 * GiB - 1_048_576,
  },
  {
    code: 'dirty-cache',
    has: snapshotOf({ host: { dirty: 3 * GiB, writeback: GiB } }),
    nearly: snapshotOf({ host: { dirty: GiB, writeback: 512 * MiB } }),
    bytes: 4 * GiB,
    summary: /^4\.0 GiB of the page cache are not written to disk yet/,
    command: /^sync$/,
    gains: 4 * GiB,
  },
  {
    code: 'driver-pools',
    has: snapshotOf({ pools: { parameter: 529, bytes: 64 * GiB } }),
    nearly: snapshotOf({ pools: { parameter: 529, bytes: GiB } }),
    bytes: 64 * GiB,
    summary: /^The driver keeps 64\.0 GiB of freed GPU memory/,
    command: /^echo 2/,
    gains: 64 * GiB,
  },
  {
    // Pools whose size only root can read.
    code: 'driver-pools',
    has: hiding(60 * GiB, { pools: { parameter: 529, bytes: null } }),
    nearly: hiding(8 * GiB, { pools: { parameter: 529, bytes: null } }),
    bytes: 60 * GiB,
    summary: /most likely driver pools of GPU programs that ended/,
    command: /^echo 2/,
  },
  {
    code: 'gpu-memory-orphaned',
    has: hiding(30 * GiB),
    nearly: hiding(15 * GiB),
    bytes: 30 * GiB,
    summary: /^30\.0 GiB are in no counter and no listed process\.$/,
    command: /fuser/,
    gains: null,
  },
  {
    // A list that is not complete proves nothing.
    code: 'gpu-memory-orphaned',
    has: hiding(40 * GiB),
    nearly: hiding(40 * GiB, { container: true }),
    bytes: 40 * GiB,
    summary: /no listed process/,
  },
  {
    code: 'gpu-memory-orphaned',
    has: snapshotOf({ model: 'discrete', ownFree: [100_000 * MiB], processes: [{ pid: 7, name: 'x', gpuBytes: GiB }] }),
    nearly: snapshotOf({
      model: 'discrete',
      ownFree: [100_000 * MiB],
      processes: [{ pid: 7, name: 'x', gpuBytes: 42_000 * MiB }],
    }),
    bytes: 43_771 * MiB - GiB,
    summary: /of GPU 0 are used, and no listed process holds them/,
  },
  {
    code: 'gpu-processes',
    has: snapshotOf({ processes: [{ pid: 77, name: 'vllm', gpuBytes: 70 * GiB }] }),
    nearly: snapshotOf({ processes: [{ pid: 77, name: 'Xorg', gpuBytes: 4 * GiB }] }),
    bytes: 70 * GiB,
    summary: /^70\.0 GiB of 119\.7 GiB are held by a GPU program: vllm \(77\) 70\.0 GiB\.$/,
    gains: 70 * GiB,
  },
  {
    code: 'model-twice',
    has: {
      snapshot: snapshotOf(),
      processes: processesOf([processOf(77, { name: 'llama-server', file: 34 * GiB, gpuBytes: 35 * GiB })]),
    },
    nearly: {
      snapshot: snapshotOf(),
      // Mapped and not copied; copied and not mapped.
      processes: processesOf([
        processOf(77, { file: 34 * GiB, gpuBytes: GiB }),
        processOf(78, { file: GiB, gpuBytes: 35 * GiB }),
      ]),
    },
    bytes: 34 * GiB,
    summary: /^llama-server \(77\) has 34\.0 GiB of mapped files in memory, and as much on the GPU/,
  },
  {
    code: 'cma-phantom',
    has: snapshotOf({ host: { cmaTotal: 0, cmaFree: 9 * GiB } }),
    nearly: snapshotOf({ host: { cmaTotal: 10 * GiB, cmaFree: 9 * GiB } }),
    bytes: 9 * GiB,
    summary: /^9\.0 GiB of the free memory cannot hold GPU memory/,
    gains: 9 * GiB,
  },
  {
    code: 'huge-pages',
    has: snapshotOf({ host: { hugePagesTotal: 1024, hugePagesFree: 512, hugetlb: 2 * GiB } }),
    nearly: snapshotOf({ host: { hugePagesTotal: 0 } }),
    bytes: 2 * GiB,
    summary: /^Huge pages are reserved, so NVIDIA's guidance answers 1\.0 GiB and llama\.cpp 1\.0 GiB/,
    command: /nr_hugepages/,
    gains: GiB,
  },
  {
    code: 'huge-pages',
    has: snapshotOf({ gpu: false, host: { hugePagesTotal: 5120, hugePagesFree: 0, hugetlb: 10 * GiB } }),
    nearly: snapshotOf({ gpu: false, host: { hugePagesTotal: 512, hugePagesFree: 0, hugetlb: GiB } }),
    bytes: 10 * GiB,
    summary: /that much less/,
    gains: 0,
  },
  {
    code: 'fragmentation',
    has: snapshotOf({ largeShare: 0.1 }),
    nearly: snapshotOf({ largeShare: 0.3 }),
    bytes: expect.any(Number) as unknown as number,
    summary: /^Free memory is fragmented/,
    command: /compact_memory$/,
  },
  {
    code: 'watermarks',
    has: snapshotOf({ kernel: { minFree: 4 * GiB } }),
    nearly: snapshotOf({ kernel: { minFree: 256 * MiB } }),
    bytes: 6 * GiB,
    summary: /^min_free_kbytes is raised: MemAvailable is lower by about 6\.0 GiB/,
    command: /^echo \d+ \| sudo tee \/proc\/sys\/vm\/min_free_kbytes$/,
    gains: 6 * GiB,
  },
  {
    code: 'pressure',
    has: snapshotOf({ some: 60, full: 40, host: { available: 3 * GiB } }),
    nearly: snapshotOf({ some: 0.5, full: 0, host: { available: 3 * GiB } }),
    bytes: null,
    summary: /^No task could run for lack of memory for 40\.0 % of the last 10 s/,
  },
  {
    code: 'pressure-rising',
    has: snapshotOf({ some: 5 }),
    nearly: snapshotOf({ some: 0.9 }),
    bytes: null,
    summary: /^Tasks begin to wait for memory: 5\.0 % of the last 10 s, 2\.5 % of the last minute/,
  },
  {
    code: 'swap-full',
    has: snapshotOf({ host: { swapFree: 0, free: GiB, available: 20 * GiB } }),
    nearly: snapshotOf({ host: { swapTotal: 0, swapFree: 0 } }),
    bytes: 16 * GiB,
    summary: /^Swap is full \(16\.0 GiB of 16\.0 GiB\), and little is available/,
    command: null,
    gains: 0,
  },
  {
    code: 'swap-used',
    has: snapshotOf({ host: { swapFree: 10 * GiB } }),
    nearly: snapshotOf({ host: { swapFree: 15 * GiB } }),
    bytes: 6 * GiB,
    summary: /^6\.0 GiB of 16\.0 GiB of swap are in use/,
    command: /swapoff/,
  },
  {
    code: 'programs',
    has: {
      snapshot: snapshotOf({ host: { anonPages: 40 * GiB } }),
      processes: processesOf([processOf(9, { anonymous: 33 * GiB }), processOf(10, { anonymous: GiB })]),
    },
    nearly: snapshotOf({ host: { anonPages: 23 * GiB } }),
    bytes: 40 * GiB,
    summary: /^40\.0 GiB are memory of programs, outside of the GPU\. The most: python3 \(9\) 33\.0 GiB\.$/,
  },
  {
    code: 'shared-memory',
    has: {
      snapshot: snapshotOf({ host: { shmem: 20 * GiB, cached: 30 * GiB } }),
      processes: processesOf([], [{ name: '/dev/shm', bytes: 19 * GiB, from: 'statfs' }]),
    },
    nearly: snapshotOf({ host: { shmem: 5 * GiB, cached: 8 * GiB } }),
    bytes: 20 * GiB,
    summary: /dropping caches does not free them\. The most: \/dev\/shm 19\.0 GiB\.$/,
  },
  {
    code: 'locked-memory',
    has: {
      snapshot: snapshotOf({ host: { mlocked: 61 * GiB } }),
      processes: processesOf([processOf(5, { name: 'llama-cli', locked: 60 * GiB })]),
    },
    nearly: snapshotOf({ host: { mlocked: 5 * GiB } }),
    bytes: 61 * GiB,
    summary: /^61\.0 GiB are locked \(mlock\).*The most: llama-cli \(5\) 60\.0 GiB\.$/,
  },
  {
    code: 'mapped-files',
    has: snapshotOf({ host: { mapped: 40 * GiB, shmem: 0 } }),
    // As much, but shared memory.
    nearly: snapshotOf({ host: { mapped: 40 * GiB, shmem: 39 * GiB, cached: 45 * GiB } }),
    bytes: 40 * GiB,
    summary: /^40\.0 GiB of what programs show as resident \(RSS\) are only mapped files/,
    gains: 0,
  },
  {
    code: 'container-limit',
    has: limited(32 * GiB),
    nearly: limited(TOTAL),
    bytes: 32 * GiB,
    summary: /^The limit of 32\.0 GiB on \/docker\/x does not hold GPU memory/,
  },
  {
    code: 'host-smaller-than-gpus',
    has: snapshotOf({ model: 'discrete', ownFree: [140_000 * MiB, 140_000 * MiB] }),
    nearly: snapshotOf({ model: 'discrete', host: { total: 300 * GiB }, ownFree: [140_000 * MiB, 140_000 * MiB] }),
    bytes: 2 * 143_771 * MiB - TOTAL,
    summary: /^This machine has less memory \(119\.7 GiB\) than its 2 GPUs \(280\.8 GiB\)/,
  },
];

function limited(limit: number): Snapshot {
  const snapshot = snapshotOf();
  return { ...snapshot, cgroup: { version: 2, path: '/docker/x', limit, high: null, current: 4 * GiB } };
}

function factsOf(machine: Machine) {
  return 'schema' in machine ? { snapshot: machine, processes: null } : machine;
}

function found(machine: Machine, code: MemoryFinding['code']): MemoryFinding | undefined {
  return findings(factsOf(machine)).find((finding) => finding.code === code);
}

describe('findings', () => {
  it.for(CASES.map((row) => [row.code, row] as const))('%s', ([code, row]) => {
    const finding = found(row.has, code);
    expect(finding).toMatchObject({ code, bytes: row.bytes, summary: expect.stringMatching(row.summary) });
    expect(found(row.nearly, code)).toBeUndefined();
    if (row.command === null) expect(finding?.remedy.command).toBeNull();
    else if (row.command !== undefined) expect(finding?.remedy.command).toMatch(row.command);
    if (row.gains !== undefined) expect(finding?.remedy.gains).toBe(row.gains);
  });

  it('have evidence with its source, and a remedy', () => {
    for (const { code, has } of CASES) {
      const finding = found(has, code);
      expect(finding?.evidence.length, code).toBeGreaterThan(0);
      for (const { from, name, value } of finding?.evidence ?? []) {
        expect(from, code).not.toBe('');
        expect(name, code).not.toBe('');
        expect(Number.isFinite(value), code).toBe(true);
      }
      expect(finding?.remedy.text, code).not.toBe('');
      expect(`${finding?.summary} ${finding?.remedy.text}`, code).not.toMatch(/NaN|undefined|(?<!dev\/)null|unknown/);
    }
  });

  it('are none on a healthy machine, with a GPU or without, and with its processes', () => {
    const idle = processesOf([
      processOf(1, { name: 'gnome-shell', anonymous: GiB, file: 300 * MiB, gpuBytes: 80 * MiB }),
    ]);
    for (const snapshot of [
      snapshotOf(),
      snapshotOf({ gpu: false }),
      snapshotOf({ model: 'discrete', host: { total: 600 * GiB, free: 590 * GiB, available: 595 * GiB } }),
    ])
      expect(findings({ snapshot, processes: idle }).map(({ code }) => code)).toEqual([]);
  });

  it('begin with dangers, and are in the order of their bytes', () => {
    const snapshot = snapshotOf({
      some: 60,
      full: 40,
      host: { free: GiB, available: 3 * GiB, anonPages: 70 * GiB, mlocked: 30 * GiB, swapFree: 0 },
      processes: [{ pid: 77, name: 'vllm', gpuBytes: 40 * GiB }],
    });
    const list = findings({ snapshot, processes: null });
    expect(list.map(({ code }) => code)).toEqual([
      'pressure',
      'programs',
      'gpu-processes',
      'locked-memory',
      'swap-full',
    ]);
    expect(list[0]?.severity).toBe('danger');
  });

  it('say what could not be judged, so that none is no proof', () => {
    const snapshot = snapshotOf({ container: true, host: { available: null } });
    const blind = { ...snapshot, pressure: null, contiguity: null };
    const report = explainReport({ snapshot: blind, processes: null });
    expect(report.findings).toEqual([]);
    expect(report.unknown.map((what) => what.split(' ').slice(0, 3).join(' '))).toEqual([
      'how much is',
      'whether tasks wait',
      'whether free memory',
      'all that GPU',
      'which programs hold',
    ]);
    expect(notJudged({ snapshot: snapshotOf(), processes: processesOf([]) })).toEqual([]);
  });
});
