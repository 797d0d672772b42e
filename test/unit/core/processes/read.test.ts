/** GPU memory of a process over all devices, and how much of it is the host's. */
import { expect, it } from 'vitest';
import { gpuMemory } from '../../../../lib/core/processes/read.ts';
import { snapshotOf } from '../../../support/snapshots.ts';
import { GiB } from '../../../support/units.ts';

/** Two GPUs that both list the process 7 with 20 GiB. */
const both = snapshotOf({
  model: 'discrete',
  ownFree: [100 * GiB, 100 * GiB],
  processes: [{ pid: 7, name: 'vllm', gpuBytes: 20 * GiB }],
});
const [first, second] = both.devices as [(typeof both.devices)[0], (typeof both.devices)[0]];

it.each([
  ['on two GPUs', both, { bytes: 40 * GiB, ofHost: 0 }],
  [
    'on a GPU that shares the host’s memory, and on one beside it',
    { ...both, devices: [{ ...first, memoryModel: 'unified' as const }, second] },
    { bytes: 40 * GiB, ofHost: 20 * GiB },
  ],
  [
    'on two GPUs of which one does not say how much',
    { ...both, devices: [first, { ...second, processes: [{ pid: 7, name: 'vllm', gpuBytes: null }] }] },
    { bytes: null, ofHost: 0 },
  ],
])('a process %s', (_, machine, held) => {
  expect(gpuMemory(machine).of.get(7)).toEqual({ name: 'vllm', ...held });
});
