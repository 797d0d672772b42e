/** The CUDA reading of a snapshot: names, ids and attributes are asked for once. */

import { describe, expect, it } from 'vitest';
import type { NativeBinding, NativeCudaReport } from '../../../../lib/core/native/contract.ts';
import { knownIdentities, withIdentities } from '../../../../lib/core/snapshot/cuda-report.ts';

const report = (identities: number, devices: NativeCudaReport['devices']): NativeCudaReport => ({
  runtime: {},
  driver: {},
  deviceCount: devices.length,
  identities,
  devices,
  timedOut: null,
});

/** A binary that returns these reports one after the other; `asked` has the identities that the caller said it knew. */
function binary(...reports: NativeCudaReport[]) {
  const asked: number[] = [];
  const binding = {} as NativeBinding;
  const read = async () => {
    const before = knownIdentities(binding);
    asked.push(before?.number ?? 0);
    return withIdentities(binding, reports.shift() as NativeCudaReport, before);
  };
  return { asked, read };
}

const first = { ordinal: 0, name: 'a GPU', attributes: { integrated: 1 }, contextActive: false };
const second = { ordinal: 0, name: 'another GPU', attributes: { integrated: 0 }, contextActive: false };

describe('the report of the binary', () => {
  it('completes a report without identities from the one before', async () => {
    const { asked, read } = binary(report(3, [first]), report(3, [{ ordinal: 0, contextActive: true }]));
    const whole = await read();
    const later = await read();
    expect(later.devices).toEqual([{ ...first, contextActive: true }]);
    expect(later.devices[0]?.attributes).toBe(whole.devices[0]?.attributes);
    expect(asked).toEqual([0, 3]);
  });

  it('does not carry over what may change', async () => {
    const active = { ...first, contextActive: true, memGetInfo: [1, 2] as [number, number] };
    const { read } = binary(report(1, [active]), report(1, [{ ordinal: 0 }]));
    await read();
    expect((await read()).devices).toEqual([{ ordinal: 0, name: 'a GPU', attributes: { integrated: 1 } }]);
  });

  it('takes new identities', async () => {
    const { asked, read } = binary(report(1, [first]), report(2, [second]), report(2, [{ ordinal: 0 }]));
    await read();
    expect((await read()).devices[0]?.name).toBe('another GPU');
    expect((await read()).devices[0]?.name).toBe('another GPU');
    expect(asked).toEqual([0, 1, 2]);
  });

  it('completes nothing when CUDA did not answer', async () => {
    const { read } = binary(report(1, [first]), report(0, [{ ordinal: 0 }]));
    await read();
    expect((await read()).devices).toEqual([{ ordinal: 0 }]);
  });
});
