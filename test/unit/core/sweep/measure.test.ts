/** One step in the child, on a scripted allocator: the order of calls, and how a step ends. */
import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../../lib/base/errors.ts';
import type { ChildContext, Stop } from '../../../../lib/core/probe/context.ts';
import { COUNTERS, type Counters } from '../../../../lib/core/probe/counters.ts';
import { measureStep } from '../../../../lib/core/sweep/measure.ts';

function failure(name: string, status: number | null = null): Failure {
  return { failed: true, source: 'cudart', call: 'cudaMalloc', status, name, message: 'no' };
}

interface Script {
  /** Calls that fail, by name and how often they were made: "touch 2". */
  fails?: Record<string, Failure>;
  /** The call after which there is a reason to stop. */
  stopsAt?: string;
  stop?: Stop;
  timeScale?: number;
}

/** A machine of 1000 bytes that takes 10 ms for everything. */
function machine({ fails = {}, stop = { cause: 'aborted', reason: 'by you' }, stopsAt, timeScale }: Script) {
  const calls: string[] = [];
  const counts = new Map<string, number>();
  let held = 0;
  const done = (name: string): Failure | { durationMs: number } => {
    const nth = (counts.get(name) ?? 0) + 1;
    counts.set(name, nth);
    calls.push(name);
    return fails[`${name} ${nth}`] ?? { durationMs: 10 };
  };
  const binding = {
    async allocBlock(_kind: string, bytes: number) {
      const answer = done('alloc');
      if ('failed' in answer) return answer;
      held = bytes;
      return { block: 1, ...answer };
    },
    touchBlock: async () => done('touch'),
    async freeBlock() {
      held = 0;
      return done('free');
    },
    liveBlocks: () => [held > 0 ? 1 : 0, held],
  };
  const context = {
    binding,
    limits: { stepTimeoutMs: 1000, timeScale: timeScale ?? null },
    waitForLowPressure: async () => undefined,
    stop: () => (stopsAt !== undefined && calls.includes(stopsAt) ? stop : null),
    begin: () => {
      calls.push('begin');
      return null;
    },
    finish: ({ state, heldBytes }: { state: string; heldBytes: number }) => calls.push(`finish ${state} ${heldBytes}`),
  } as unknown as ChildContext;
  const reader = {
    read: async () => {
      calls.push('read');
      return Object.fromEntries(COUNTERS.map((name) => [name, 1000 - held])) as Counters;
    },
  };
  return { calls, context, reader };
}

async function measure(script: Script, { repeat = 1, check = () => null as string | null } = {}) {
  const { calls, context, reader } = machine(script);
  const measurement = await measureStep(context, reader, { kind: 'device', bytes: 100 }, repeat, check);
  return { calls: calls.join(', '), measurement };
}

const OOM = failure('cudaErrorMemoryAllocation', 2);

describe('a step', () => {
  it('is journalled before anything is allocated, read around every part, and holds nothing in the end', async () => {
    const { calls, measurement } = await measure({});
    expect(calls).toBe('read, begin, alloc, read, touch, read, touch, free, read, finish ok 0');
    expect(measurement).toMatchObject({
      state: 'ok',
      allocMs: [10],
      firstTouchMs: [10],
      secondTouchMs: [10],
      freeMs: [10],
    });
    expect(measurement.moved[0]?.afterAlloc?.memFree).toBe(900);
    expect(measurement.moved[0]?.afterFree?.memFree).toBe(1000);
  });

  it('holds nothing between its repeats, and is one record of the journal', async () => {
    const { calls, measurement } = await measure({}, { repeat: 3 });
    expect(measurement.allocMs).toHaveLength(3);
    expect(calls.match(/begin/g)).toHaveLength(1);
    expect(calls.match(/alloc, read, touch, read, touch, free, read/g)).toHaveLength(3);
  });

  it('reports simulated time on a simulated machine', async () => {
    const { measurement } = await measure({ timeScale: 20 });
    expect(measurement).toMatchObject({ allocMs: [200], secondTouchMs: [200], freeMs: [200] });
  });
});

describe('a step ends', () => {
  it('refused: nothing was allocated or journalled', async () => {
    const { calls, measurement } = await measure({}, { check: () => 'below the floor' });
    expect(calls).toBe('read');
    expect(measurement).toMatchObject({ state: 'refused', reason: 'below the floor', moved: [], overheadMs: null });
  });

  it('refused in a later repeat: what was measured stays', async () => {
    let checks = 0;
    const check = () => (++checks > 2 ? 'below the floor' : null);
    const { calls, measurement } = await measure({}, { repeat: 5, check });
    expect(measurement).toMatchObject({ state: 'refused', allocMs: [10, 10] });
    expect(calls).toMatch(/finish refused 0$/);
  });

  it('out of memory in the allocator', async () => {
    const { calls, measurement } = await measure({ fails: { 'alloc 1': OOM } }, { repeat: 3 });
    expect(calls).toBe('read, begin, alloc, finish out-of-memory 0');
    expect(measurement).toMatchObject({ state: 'out-of-memory', allocMs: [], hung: false });
    expect(measurement.reason).toContain('cudaMalloc');
  });

  it('out of memory in a touch: what was allocated is freed', async () => {
    const { calls, measurement } = await measure({ fails: { 'touch 1': OOM } });
    expect(calls).toBe('read, begin, alloc, read, touch, free, read, finish out-of-memory 0');
    expect(measurement).toMatchObject({ state: 'out-of-memory', firstTouchMs: [], freeMs: [10] });
    expect(measurement.moved[0]?.afterTouch).toBeNull();
  });

  it('failed if the free failed', async () => {
    const { measurement } = await measure({ fails: { 'free 1': failure('cudaErrorUnknown', 999) } }, { repeat: 2 });
    expect(measurement).toMatchObject({ state: 'failed', freeMs: [], allocMs: [10] });
  });

  it.each(['aborted', 'timeout'] as const)('%s between any two jobs', async (cause) => {
    for (const [stopsAt, done] of [
      ['alloc', 'alloc, read, free, read'],
      ['touch', 'alloc, read, touch, read, free, read'],
      ['free', 'alloc, read, touch, read, touch, free, read'],
    ] as const) {
      const { calls, measurement } = await measure({ stopsAt, stop: { cause, reason: 'by you' } }, { repeat: 2 });
      expect(calls).toBe(`read, begin, ${done}, finish ${cause} 0`);
      expect(measurement).toMatchObject({ state: cause, reason: 'by you' });
    }
  });

  it('stopped by the guard, whatever the allocator returned', async () => {
    const stop: Stop = { cause: 'guard', reason: 'MemAvailable below the floor' };
    const gone = failure('UNKNOWN_BLOCK');
    const { measurement } = await measure({
      stop,
      stopsAt: 'touch',
      fails: { 'touch 1': failure('STOPPED'), 'free 1': gone },
    });
    expect(measurement).toMatchObject({ state: 'stopped', reason: 'MemAvailable below the floor' });
    const early = await measure({ fails: { 'alloc 1': failure('STOPPED') } });
    expect(early.measurement.state).toBe('stopped');
  });

  it('hung: a call that did not return is reported', async () => {
    const { measurement } = await measure({ fails: { 'alloc 1': failure('TIMEOUT') } });
    expect(measurement).toMatchObject({ state: 'failed', hung: true });
  });
});
