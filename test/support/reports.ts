/** Made-up reports of probes: the shapes and orders of magnitude of a GB10, computed and not measured. */
import { byKind } from '../../lib/memory/kinds.ts';
import type {
  AllocatorKind,
  Counter,
  CounterChange,
  CountersMoved,
  LayoutReport,
  ProbeHeader,
  Settled,
  StressReport,
  StressStep,
  SweepReport,
  SweepStep,
  Times,
} from '../../lib/types/index.ts';
import { GB, GiB } from './units.ts';

export function headerOf(overrides: Partial<ProbeHeader> = {}): ProbeHeader {
  return {
    at: '2026-11-20T18:00:00.000Z',
    bootId: '5f0c1f6e-0000-4000-8000-000000000000',
    simulated: 'gb10',
    timeScale: 1,
    device: {
      index: 0,
      name: 'NVIDIA GB10',
      uuid: 'GPU-00000000-0000-0000-0000-000000000000',
      memoryModel: 'unified',
      total: 128_518_619_136,
      driverVersion: '580.142',
      cudaVersion: '13.0',
    },
    kinds: [
      { kind: 'device', supported: true, call: 'cudaMalloc', reason: null },
      { kind: 'managed', supported: true, call: 'cudaMallocManaged', reason: null },
      { kind: 'pinned', supported: true, call: 'cudaHostAlloc', reason: null },
      { kind: 'system', supported: false, call: null, reason: 'pageableMemoryAccess is 0 on this device' },
    ],
    host: { total: 128_518_619_136, available: 121_139_806_208, free: 114_947_526_656, swapTotal: 17_179_869_184 },
    floor: { bytes: 9_019_431_322, from: '7 % of MemTotal' },
    others: null,
    touch: { by: 'kernel', reason: null },
    journal: '/home/someone/.local/state/umaprobe/probe.jsonl',
    journalNotes: [],
    unfinished: null,
    from: { 'device.total': 'cudaMemGetInfo', 'moved.cgroup': 'no cgroup v2 here', 'host.available': '/proc/meminfo' },
    durationMs: 12_345.6,
    ...overrides,
  };
}

export function times(median: number): Times {
  return { min: median * 0.97, median, max: median * 1.08 };
}

export function movedOf(bytes: number, kind: AllocatorKind): CountersMoved {
  const lazy = kind === 'managed' || kind === 'system';
  const change = (alloc: number | null, touch: number | null): CounterChange => ({
    afterAlloc: alloc,
    afterTouch: touch,
    afterFree: alloc === null ? null : 0,
  });
  const taken = change(lazy ? -65_536 : -bytes, -bytes);
  const counters: Record<Counter, CounterChange> = {
    memFree: taken,
    memAvailable: taken,
    cudaFree: taken,
    nvmlProcess: change(lazy ? 0 : bytes, bytes),
    nvmlDeviceUsed: change(null, null),
    rss: change(131_072, kind === 'device' ? 131_072 : bytes),
    cgroup: change(0, kind === 'managed' ? bytes : 0),
  };
  return counters;
}

export function stepOf(kind: AllocatorKind, bytes: number, overrides: Partial<SweepStep> = {}): SweepStep {
  const gb = bytes / GB;
  const lazy = kind === 'managed';
  return {
    kind,
    requestedBytes: bytes,
    tensor: null,
    state: 'ok',
    reason: null,
    repeats: 3,
    allocMs: times(lazy ? 0.05 + gb * 0.01 : 2 + gb * 34),
    firstTouchMs: times(lazy ? gb * 57 : gb * 4.6),
    secondTouchMs: times(gb * (lazy ? 5.2 : 4.4)),
    freeMs: times(0.2 + gb * 1.5),
    gbPerSecond: 1000 / (lazy ? 5.2 : 4.4),
    firstTouchGbPerSecond: 1000 / (lazy ? 57 : 4.6),
    moved: movedOf(bytes, kind),
    overheadMs: 2.1,
    ...overrides,
  };
}

export function notMade(kind: AllocatorKind, bytes: number, state: SweepStep['state'], reason: string): SweepStep {
  const nothing = { allocMs: null, firstTouchMs: null, secondTouchMs: null, freeMs: null };
  return stepOf(kind, bytes, {
    ...nothing,
    state,
    reason,
    repeats: 0,
    gbPerSecond: null,
    firstTouchGbPerSecond: null,
    moved: null,
    overheadMs: null,
  });
}

const SIZES = [1, 2, 4, 8, 10, 20, 30, 40, 50, 60, 70, 80].map((gb) => gb * GB);

export function sweepOf(overrides: Partial<SweepReport> = {}): SweepReport {
  return {
    schema: 'umaprobe/sweep/1',
    ...headerOf(),
    preset: 'lab',
    repeat: 3,
    state: 'complete',
    reason: null,
    steps: [
      ...SIZES.map((bytes) => stepOf('device', bytes)),
      ...SIZES.slice(0, 9).map((bytes) => stepOf('managed', bytes)),
      notMade(
        'managed',
        120 * GB,
        'refused',
        'MemAvailable 112.8 GiB less 111.8 GiB would be below the floor of 8.4 GiB',
      ),
    ],
    spills: [],
    largest: { ...byKind(() => null), device: 80 * GB, managed: 50 * GB },
    ...overrides,
  };
}

export function settledOf(overrides: Partial<Settled> = {}): Settled {
  return {
    afterMs: 420,
    settled: true,
    memAvailableChange: -12_582_912,
    memFreeChange: -8_388_608,
    cudaFreeChange: -8_388_608,
    missing: null,
    ...overrides,
  };
}

export function stressOf(overrides: Partial<StressReport> = {}): StressReport {
  const steps: StressStep[] = [];
  let held = 0;
  const available = 121_139_806_208;
  for (const gib of [0.25, 0.5, 1, 2, 4, ...Array.from({ length: 23 }, () => 4), 2, 1, 0.5, 0.25, 0.0625]) {
    held += gib * GiB;
    steps.push({
      requestedBytes: gib * GiB,
      heldBytes: held,
      predictedCost: gib * GiB,
      cost: gib * GiB + 2 ** 21,
      state: 'ok',
      reason: null,
      allocMs: gib * 22,
      touchMs: gib * 4.6,
      verifyMs: gib * 4.4,
      memAvailable: available - held,
      pressureFull: 0,
    });
  }
  return {
    schema: 'umaprobe/stress/1',
    share: null,
    ...headerOf(),
    kind: 'device',
    mode: 'total',
    state: 'floor',
    maxBytes: held,
    boundBy: 'MemAvailable 9.3 GiB less the next 1.0 GiB would be below the floor of 8.4 GiB.',
    guard: null,
    chunkBytes: 4 * GiB,
    resolutionBytes: 64 * 2 ** 20,
    verified: { bytes: held, mismatches: 0, firstMismatch: null },
    holdMs: 1000,
    cudaMs: 3456,
    steps,
    settled: settledOf(),
    ...overrides,
  };
}

export function layoutOf(overrides: Partial<LayoutReport> = {}): LayoutReport {
  const parts = Object.entries({
    embeddings: 2,
    attention: 8,
    feedforward: 10,
    'layer norms': 0.5,
    'output head': 1,
    activations: 4,
  }).map(([name, gb]) => ({
    name,
    expectedBytes: gb * GB,
    state: 'ok' as const,
    reason: null,
    allocMs: gb * 34,
    firstTouchMs: gb * 4.6,
  }));
  return {
    schema: 'umaprobe/layout/1',
    ...headerOf(),
    preset: '13b',
    kind: 'device',
    state: 'complete',
    reason: null,
    parts,
    expectedBytes: 25.5 * GB,
    allocatedBytes: 25.5 * GB,
    consumedBytes: 25.51 * GB,
    consumedFrom: 'MemAvailable',
    overheadBytes: 0.01 * GB,
    moved: movedOf(25.5 * GB, 'device'),
    settled: settledOf({ missing: { bytes: 2 * GiB, explanation: 'the driver keeps it in its page pools' } }),
    ...overrides,
  };
}
