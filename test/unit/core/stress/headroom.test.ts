/** What the next step of a stress test may take, from a reading of the machine. */

import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../../lib/base/errors.ts';
import { stepMargin } from '../../../../lib/core/memory/floor.ts';
import type { ChildContext, HostReading, RunLimits } from '../../../../lib/core/probe/context.ts';
import { headroomFor } from '../../../../lib/core/stress/headroom.ts';
import type { AllocatorKind } from '../../../../lib/types/index.ts';
import { cudaFailure } from '../../../support/failures.ts';
import { GiB } from '../../../support/units.ts';

const READING: HostReading = {
  memFree: 50 * GiB,
  memAvailable: 60 * GiB,
  unpinnable: 2 * GiB,
  pressureFull: 0,
  inLargeBlocks: null,
  stuck: null,
};

function headroomOn(
  memoryModel: RunLimits['memoryModel'],
  kind: AllocatorKind,
  {
    free = [10 * GiB, 80 * GiB] as Fact<[number, number]>,
    floor = (8 * GiB) as number | null,
    share = 0,
    pooled = 0,
  } = {},
) {
  const context = {
    binding: { memGetInfo: async () => free },
    limits: { device: 0, floor, memoryModel, stepTimeoutMs: null },
  };
  const beside = { pooledBytes: pooled, shareBytes: share };
  return headroomFor(context as unknown as ChildContext, kind, READING, beside);
}

describe('on memory shared with the host', () => {
  it('is what is above the floor and its margin, without what only the host can use', async () => {
    const host = 50 * GiB - stepMargin(8 * GiB);
    expect(await headroomOn('unified', 'device')).toMatchObject({ host, device: null });
    expect(await headroomOn('unified', 'device', { pooled: GiB })).toMatchObject({ host: host + GiB });
    expect(await headroomOn('unified', 'device', { floor: 100 * GiB })).toMatchObject({ host: 0 });
    expect(await headroomOn('unified', 'device', { floor: null })).toMatchObject({ host: null });
  });
});

describe('on a device with memory of its own', () => {
  it('is what is free there, less what stays for others', async () => {
    const free = { bytes: 10 * GiB, hard: false };
    expect(await headroomOn('discrete', 'device')).toMatchObject({ host: null, device: free });
    const shared = await headroomOn('discrete', 'device', { share: 3 * GiB });
    expect(shared.device).toEqual({ bytes: 7 * GiB, hard: true });
    expect((await headroomOn('discrete', 'device', { share: 30 * GiB })).device).toEqual({ bytes: 0, hard: true });
    expect((await headroomOn('discrete', 'managed')).device).toEqual({ bytes: 10 * GiB, hard: true });
  });

  it('that does not say what is free is none for memory that would move to the host', async () => {
    const free = cudaFailure('CUDA_ERROR_UNKNOWN', 999, 'cuMemGetInfo');
    expect((await headroomOn('discrete', 'device', { free })).device).toBeNull();
    expect((await headroomOn('discrete', 'managed', { free })).device).toEqual({ bytes: 0, hard: true });
  });
});
