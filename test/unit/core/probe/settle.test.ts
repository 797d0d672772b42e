/** What a probe says of memory that did not come back. */
import { describe, expect, it } from 'vitest';
import { missing } from '../../../../lib/core/probe/settle.ts';
import { snapshotOf } from '../../../support/snapshots.ts';
import { GiB } from '../../../support/units.ts';

const unchanged = { memAvailableChange: 0, memFreeChange: 0, cudaFreeChange: 0 };

describe('memory that did not come back', () => {
  it('is a device’s own', () => {
    const machine = snapshotOf({ model: 'discrete' });
    expect(missing(machine, machine, { ...unchanged, cudaFreeChange: -GiB }, machine.devices[0])).toEqual({
      bytes: GiB,
      explanation: expect.stringMatching(/^the device has 1\.00 GiB .*no process is listed that holds it$/),
    });
  });

  it('is the host’s where the GPU shares it: CUDA’s number falls for page cache, too', () => {
    const [before, after] = [snapshotOf({ host: { anonPages: GiB } }), snapshotOf({ host: { anonPages: 3 * GiB } })];
    const changes = { ...unchanged, cudaFreeChange: -4 * GiB };
    expect(missing(before, after, changes, after.devices[0])).toBeNull();
    expect(missing(before, after, { ...changes, memAvailableChange: -2 * GiB }, after.devices[0])).toEqual({
      bytes: 2 * GiB,
      explanation: expect.stringMatching(/^programs hold 2\.00 GiB .*another program took the memory meanwhile$/),
    });
  });
});
