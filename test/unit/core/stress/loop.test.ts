/** The loop of a stress test in the child, on a scripted allocator and machine. */

import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../../lib/base/errors.ts';
import type { ChildContext, HostReading, PlannedStep, RunLimits } from '../../../../lib/core/probe/context.ts';
import { stepRefusal } from '../../../../lib/core/probe/step-check.ts';
import { loop } from '../../../../lib/core/stress/loop.ts';
import type { StressRequest } from '../../../../lib/core/stress/protocol.ts';
import { timeout } from '../../../support/failures.ts';

const MiB = 2 ** 20;
const GiB = 2 ** 30;

const OOM: Failure = {
  failed: true,
  source: 'cudart',
  call: 'cudaMalloc',
  status: 2,
  name: 'cudaErrorMemoryAllocation',
  message: 'out of memory',
};

const FULL = { cause: 'journal', reason: 'journal j: no space left on device (ENOSPC 28)' } as const;

const LATE = { cause: 'timeout', reason: 'the time limit was reached' } as const;

interface Script {
  available: number;
  floor: number | null;
  /** The allocator refuses beyond this total. */
  gives?: number;
  /** The caller's time limit is reached in this allocation. */
  stopsAfter?: number;
  /** An allocation of so much does not return. */
  hangsAbove?: number;
  request?: Partial<StressRequest>;
  /** The journal's disk is full after this many steps. */
  journalHolds?: number;
  /** Bytes that other programs take once the search has freed its blocks this many times. */
  lostAfterFrees?: { frees: number; bytes: number };
}

function machine({
  available,
  floor,
  gives = Number.MAX_SAFE_INTEGER,
  hangsAbove = Number.MAX_SAFE_INTEGER,
  journalHolds = 1000,
  lostAfterFrees,
  stopsAfter = Number.MAX_SAFE_INTEGER,
}: Script) {
  const calls: string[] = [];
  const blocks = new Map<number, number>();
  let frees = 0;
  const held = () => [...blocks.values()].reduce((sum, bytes) => sum + bytes, 0);
  const lost = () => (lostAfterFrees !== undefined && frees >= lostAfterFrees.frees ? lostAfterFrees.bytes : 0);
  const limits: RunLimits = {
    device: 0,
    memoryModel: floor === null ? 'discrete' : 'unified',
    hostTotal: 128 * GiB,
    stuck: null,
    floor,
    pressureFull: floor === null ? null : 10,
    stepTimeoutMs: 1000,
    timeScale: null,
  };
  const reading = (): HostReading => {
    const now = available - (floor === null ? 0 : held()) - lost();
    return {
      memFree: now,
      memAvailable: now,
      unpinnable: 0,
      pressureFull: 0,
      inLargeBlocks: floor === null ? null : now,
      stuck: null,
    };
  };
  const binding = {
    async allocBlock(_kind: string, bytes: number) {
      calls.push(`alloc ${bytes / MiB}`);
      if (bytes >= hangsAbove) return timeout('cudaMalloc');
      if (held() + bytes > gives) return OOM;
      const block = calls.length;
      blocks.set(block, bytes);
      return { block, durationMs: 1 };
    },
    touchBlock: async () => ({ durationMs: 1 }),
    verifyBlock: async () => ({ durationMs: 1, mismatches: 0, firstMismatch: null }),
    async freeBlocks() {
      calls.push('free');
      frees++;
      blocks.clear();
      return { durationMs: 1, blocks: 1, bytes: 1 };
    },
    memGetInfo: async () => [gives - held(), gives],
    guardRead: () => ({ trip: null }),
  };
  const context = {
    binding,
    allocator: { kinds: { device: 'cudaMalloc' }, kernel: 'kernel' },
    limits,
    stop: () => (calls.filter((call) => call.startsWith('alloc')).length < stopsAfter ? null : LATE),
    pause: async () => undefined,
    waitForLowPressure: async () => void calls.push('waitForLowPressure'),
    reading,
    check: (step: PlannedStep, fresh = reading()) => stepRefusal(limits, fresh, step),
    begin({ targetBytes }: PlannedStep) {
      calls.push(`begin ${targetBytes / MiB}`);
      return calls.filter((call) => call.startsWith('begin')).length > journalHolds ? FULL : null;
    },
    finish: ({ state }: { state: string }) => calls.push(`finish ${state}`),
  } as unknown as ChildContext;
  return { calls, context };
}

async function search(script: Script) {
  const { calls, context } = machine(script);
  const request: StressRequest = {
    kind: 'device',
    mode: 'total',
    ceiling: null,
    chunkBytes: 4 * GiB,
    resolutionBytes: 64 * MiB,
    shareBytes: 0,
    verify: false,
    holdMs: 0,
    pools: false,
    ...script.request,
  };
  return { calls, result: await loop(context, request as never, () => undefined) };
}

it('a step whose allocation hangs stays open in the journal: it may still take the memory', async () => {
  const { calls, result } = await search({ available: 40 * GiB, floor: 8 * GiB, hangsAbove: GiB });
  expect(result).toMatchObject({ state: 'timeout', maxBytes: 768 * MiB });
  expect(calls.slice(-3)).toEqual(['waitForLowPressure', 'begin 1792', 'alloc 1024']);
  expect(calls.filter((call) => call === 'finish ok')).toHaveLength(2);
});

it('blocks are not freed after a stop: the guard has freed them', async () => {
  const { calls, result } = await search({
    ...{ available: 40 * GiB, floor: 8 * GiB, stopsAfter: 2 },
    request: { mode: 'single' },
  });
  expect(result).toMatchObject({ state: 'timeout', boundBy: 'the time limit was reached' });
  expect(calls.filter((call) => call.startsWith('alloc'))).toHaveLength(2);
  expect(calls.filter((call) => call === 'free')).toHaveLength(1);
});

describe('the largest single block, once it is found,', () => {
  const single = { mode: 'single', verify: true } as const;
  const host = { available: 40 * GiB, floor: 8 * GiB };

  it('is allocated again as a step like any other: checked, journalled, verified', async () => {
    const { calls, result } = await search({ ...host, request: single });
    expect(result).toMatchObject({ state: 'floor', verified: { bytes: result.maxBytes, mismatches: 0 } });
    const largest = `${result.maxBytes / MiB}`;
    const again = calls.lastIndexOf(`alloc ${largest}`);
    expect(calls.slice(again - 2, again + 2)).toEqual([
      'waitForLowPressure',
      `begin ${largest}`,
      `alloc ${largest}`,
      'finish ok',
    ]);
  });

  it('is not allocated again if another program has taken the memory since, and the report says why', async () => {
    const { calls, result } = await search({ ...host, request: single, lostAfterFrees: { frees: 3, bytes: 20 * GiB } });
    expect(result).toMatchObject({ state: 'floor', verified: null });
    expect(result.maxBytes).toBeGreaterThan(30 * GiB);
    expect(calls.filter((call) => call === `alloc ${result.maxBytes / MiB}`)).toHaveLength(1);
    expect(result.boundBy).toMatch(/\. It was not allocated again to verify or hold it: MemAvailable 20\.00 GiB/);
  });
});

describe('an allocator that refuses', () => {
  it('is reported with the smallest refused total, and its distance to the largest that succeeded', async () => {
    const { result } = await search({ available: 64 * GiB, floor: null, gives: 20 * GiB + 100 * MiB });
    expect(result).toMatchObject({ state: 'out-of-memory' });
    expect(20 * GiB + 100 * MiB - result.maxBytes).toBeLessThanOrEqual(64 * MiB);
    expect(result.boundBy).toMatch(
      /^the allocator refused a total of 20\.1\d GiB \(21\.\d\d GB\); the largest total that it allocated is 64\.0 MiB less \(ERR_UMA_OUT_OF_MEMORY: cudaMalloc/,
    );
  });

  it('of a single block is reported without held bytes, of which there are none', async () => {
    const { result } = await search({ available: 64 * GiB, floor: null, gives: 20 * GiB, request: { mode: 'single' } });
    expect(result.boundBy).toMatch(
      /^the allocator refused a block of 20\.\d\d GiB .*; the largest block that it allocated is 64\.0 MiB less/,
    );
    expect(result.boundBy).not.toMatch(/held|0\.00 GiB/);
  });

  it('that refuses everything is reported as such', async () => {
    const { result } = await search({ available: 64 * GiB, floor: null, gives: 32 * MiB });
    expect(result).toMatchObject({ state: 'out-of-memory', maxBytes: 0 });
    expect(result.boundBy).toMatch(/refused a total of 64\.0 MiB \(67\.1 MB\); no allocation succeeded/);
  });
});

describe('a journal whose disk is full in the middle', () => {
  it('ends the search with what was found, and the step that could not be journalled is not made', async () => {
    const { calls, result } = await search({ available: 40 * GiB, floor: 8 * GiB, journalHolds: 3 });
    expect(result).toMatchObject({ state: 'journal', maxBytes: (256 + 512 + 1024) * MiB });
    expect(result.boundBy).toBe('journal j: no space left on device (ENOSPC 28)');
    expect(calls.at(-1)).toBe('begin 3840');
  });
});
