/** memoryOf(): the numbers of another program are those of the judgement, and what is not known stays unknown. */
import { describe, expect, it } from 'vitest';
import { answer } from '../../../../lib/core/memory/answer.ts';
import { memoryOf } from '../../../../lib/core/memory/pool.ts';
import type { Snapshot } from '../../../../lib/types/index.ts';
import { changed, snapshotOf } from '../../../support/snapshots.ts';
import { GiB } from '../../../support/units.ts';
import { snapshotIn } from './findings/case.ts';
import { CASES } from './findings/cases.ts';

const spark = snapshotOf({ host: { cached: 90 * GiB, free: 8 * GiB } });
const [gpu] = spark.devices as [Snapshot['devices'][number]];

describe('memoryOf()', () => {
  it('has the numbers of the judgement and of the GPU that shares the memory', () => {
    expect(memoryOf(spark)).toEqual({
      unified: true,
      total: spark.host.total,
      free: gpu.allocatable.immediate,
      available: gpu.allocatable.afterReclaim,
      safe: spark.judgement.safe.bytes,
      gpus: [
        {
          name: gpu.name,
          uuid: gpu.uuid,
          unified: true,
          total: spark.host.total,
          free: gpu.allocatable.immediate,
          available: gpu.allocatable.afterReclaim,
          safe: gpu.allocatable.safe,
        },
      ],
      verdict: 'yes',
      because: spark.judgement.because,
      simulated: spark.simulated,
    });
  });

  it('is about the GPU with most left where each has its own memory', () => {
    const own = (index: number, free: number): Snapshot['devices'][number] => ({
      ...gpu,
      index,
      memoryModel: 'discrete',
      nvml: { total: 80 * GiB, free, used: 80 * GiB - free, reserved: null },
      allocatable: { immediate: free, afterReclaim: free, safe: free, safeHigh: free },
    });
    const devices = [own(0, 0), own(1, 60 * GiB)];
    const safe = { bytes: 60 * GiB, low: 60 * GiB, high: 60 * GiB, from: '' };
    const { gpus, ...pool } = memoryOf({ ...spark, devices, judgement: { ...spark.judgement, safe } });
    expect(pool).toMatchObject({ unified: false, total: 80 * GiB, free: 60 * GiB, safe: 60 * GiB });
    expect(gpus.map(({ free, total, unified }) => [unified, free, total])).toEqual([
      [false, 0, 80 * GiB],
      [false, 60 * GiB, 80 * GiB],
    ]);
  });

  it('in MIG mode does not take the whole GPU for the slice', () => {
    const slice = { ...gpu, memoryModel: 'discrete' as const, migMode: { current: true, pending: true } };
    const nvml = { total: 80 * GiB, free: 80 * GiB, used: 0, reserved: null };
    expect(memoryOf({ ...spark, devices: [{ ...slice, nvml, cuda: null }] }).gpus[0]?.total).toBeNull();
    const cuda = { free: 9 * GiB, total: 10 * GiB };
    expect(memoryOf({ ...spark, devices: [{ ...slice, nvml, cuda }] }).gpus[0]?.total).toBe(10 * GiB);
  });

  it('of a GPU that CUDA did not describe knows nothing, and never says no', () => {
    const unknown = changed((reading) => {
      for (const device of reading.devices)
        Object.assign(device, {
          memoryModel: 'unknown',
          nvml: null,
          cuda: null,
          allocatable: { immediate: null, afterReclaim: null, safe: null, safeHigh: null },
        });
    });
    const nothing = { unified: null, total: null, free: null, available: null, safe: null };
    const seen = memoryOf(unknown);
    expect(seen).toMatchObject(nothing);
    expect(seen.gpus).toMatchObject([nothing]);
    expect(['unknown', 'not-now']).toContain(seen.verdict);
  });

  it('without a GPU has the host: the number of the first line of the command, which is no yes', () => {
    const none = changed((reading) => {
      reading.devices = [];
    });
    expect(memoryOf(none)).toMatchObject({
      unified: null,
      total: none.host.total,
      free: none.host.free,
      available: none.host.available,
      safe: none.host.available,
      gpus: [],
      verdict: 'unknown',
    });
    expect(answer(none, String)).toBe(`${memoryOf(none).safe} of this machine's memory can be used`);
  });

  it('agrees with the judgement on every machine of the findings', () => {
    for (const [, title, facts] of CASES) {
      const snapshot = snapshotIn(facts);
      const { because, safe, verdict } = memoryOf(snapshot);
      const { judgement } = snapshot;
      expect([title, because, safe, verdict]).toEqual([
        title,
        judgement.because,
        snapshot.devices.length === 0 ? snapshot.host.available : judgement.safe.bytes,
        judgement.mayLoad,
      ]);
      if (verdict === 'yes') expect(safe, title).toBeGreaterThan(0);
    }
  });
});
