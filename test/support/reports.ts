/** Made-up reports of probes: the shapes and orders of magnitude of a GB10, computed and not measured. */
import { byKind } from '../../lib/core/memory/kinds.ts';
import type {
  AllocatorKind,
  Counter,
  CounterChange,
  CountersMoved,
  LayoutReport,
  ProbeHeader,
  RecordedSession,
  RecordReport,
  SeriesPoint,
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

const RECORD_START = Date.parse('2026-11-20T18:00:00.000Z');
export const recordTime = (seconds: number): string => new Date(RECORD_START + seconds * 1000).toISOString();

/** Ten minutes: a load from 100 to 300 s, a copy that comes back at 200 s, and a fall below the floor at the end. */
function recordPoints(): SeriesPoint[] {
  return Array.from({ length: 600 }, (_, second) => {
    const loaded = Math.min(1, Math.max(0, (second - 100) / 200));
    const spiral = Math.max(0, second - 580) * 0.9;
    const available = (110 - 80 * loaded - spiral) * GiB;
    const free = available - 6 * GiB;
    return {
      at: recordTime(second),
      spanMs: 1000,
      free,
      lowestFree: second === 200 ? free - 9 * GiB : free,
      available,
      lowestAvailable: available,
      swapUsed: spiral * 0.5 * GiB,
      somePercent: spiral * 4,
      fullPercent: spiral * 3,
    };
  });
}

export function sessionOf(overrides: Partial<RecordedSession> = {}): RecordedSession {
  const series = recordPoints();
  const least = series.at(-1) as SeriesPoint;
  return {
    id: '0a4ba42e-0000-4000-8000-000000000000',
    bootId: '5f0c1f6e-0000-4000-8000-000000000000',
    simulated: 'gb10',
    hostName: 'spark',
    architecture: 'arm64',
    deviceName: 'NVIDIA GB10',
    driverVersion: '580.142',
    memoryModel: 'unified',
    total: 128_518_619_136,
    swapTotal: 17_179_869_184,
    floor: 15 * GiB,
    intervalMs: 10,
    startedAt: recordTime(0),
    lastAt: recordTime(600),
    durationMs: 600_000,
    end: 'machine-lost',
    endReason: null,
    frames: 6000,
    lostFrames: 0,
    lowestFree: { at: least.at, bytes: least.free ?? 0 },
    lowestAvailable: { at: least.at, bytes: least.available ?? 0 },
    belowFloorMs: 3000,
    fastestFall: { at: recordTime(581), bytesPerSecond: 0.9 * GiB },
    fastestRise: null,
    transients: [{ at: recordTime(200), durationMs: 100, bytes: 9 * GiB, lowestFree: 55 * GiB }],
    plateaus: [{ from: recordTime(300), to: recordTime(580), free: 24 * GiB }],
    marks: [
      { at: recordTime(100), text: 'load begins', pid: 4242 },
      { at: recordTime(300), text: 'weights loaded', pid: 4242 },
    ],
    processes: {
      at: recordTime(598),
      processes: [{ pid: 4242, name: 'python3', held: 80 * GiB, gpuBytes: 78 * GiB }],
    },
    gpus: [],
    lowestProcesses: {
      at: recordTime(595),
      processes: [{ pid: 4242, name: 'python3', held: 82 * GiB, gpuBytes: 78 * GiB }],
    },
    growth: [],
    processSeries: {
      at: [100, 200, 300, 400, 500, 598].map(recordTime),
      processes: [
        {
          pid: 4242,
          name: 'python3',
          highestHeld: 80 * GiB,
          highestGpuBytes: 78 * GiB,
          held: [null, 41 * GiB, 80 * GiB, 80 * GiB, 80 * GiB, 80 * GiB],
          gpuBytes: [null, 40 * GiB, 78 * GiB, 78 * GiB, 78 * GiB, 78 * GiB],
        },
      ],
    },
    notes: [{ at: recordTime(400), text: 'the disk is full: 1 old segment was removed early' }],
    kernelMessages: [{ at: recordTime(599), text: 'NVRM: Xid 31' }],
    leftOut: { marks: 0, kernelMessages: 0, notes: 0, transients: 0 },
    lastSeconds: series.slice(-10),
    series,
    ...overrides,
  };
}

export function recordOf(overrides: Partial<RecordReport> = {}): RecordReport {
  return {
    schema: 'umaprobe/record/1',
    at: '2026-11-20T18:30:00.000Z',
    folder: '/home/someone/.local/state/umaprobe/record',
    sessions: [sessionOf()],
    problems: [],
    durationMs: 12.3,
    ...overrides,
  };
}
