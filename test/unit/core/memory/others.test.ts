import { describe, expect, it } from 'vitest';
import { floorWithShare, othersSentence, otherUsers, shareFor } from '../../../../lib/core/memory/others.ts';
import type { GpuProcess } from '../../../../lib/types/index.ts';
import { type MachineFixture, snapshotOf } from '../../../support/snapshots.ts';
import { GiB, MiB } from '../../../support/units.ts';

const vllm: GpuProcess = { pid: 7, name: 'vllm', gpuBytes: 60 * GiB };
const xorg: GpuProcess = { pid: 8, name: 'Xorg', gpuBytes: 42 * MiB };
const TOTAL = 143_771 * MiB;

function usersOf(fixture: MachineFixture, ownPid = 1) {
  const [device] = snapshotOf(fixture).devices;
  if (device === undefined) throw new Error('no device');
  return otherUsers(device, ownPid);
}

describe('other users of a GPU', () => {
  it.each<[string, MachineFixture, unknown]>([
    ['none', {}, null],
    ['none on a GPU with its own memory', { model: 'discrete', ownFree: [TOTAL - 100 * MiB] }, null],
    ['two', { processes: [xorg, vllm] }, { processes: [vllm, xorg], bytes: 60 * GiB + 42 * MiB }],
    ['one that holds nothing', { processes: [{ ...vllm, gpuBytes: 0 }] }, null],
    ['not known in a container', { container: true }, { processes: [], bytes: null }],
    ['a part in a container', { container: true, processes: [xorg] }, { processes: [xorg], bytes: null }],
    [
      'not known by name, but NVML counts what they hold',
      { model: 'discrete', container: true, ownFree: [TOTAL - 90 * GiB] },
      { processes: [], bytes: 90 * GiB, from: 'used memory of the device by NVML' },
    ],
    ['nobody in a container', { model: 'discrete', container: true, ownFree: [TOTAL - 100 * MiB] }, null],
    [
      'some that share memory',
      { model: 'discrete', processes: [vllm, { ...vllm, pid: 9 }], ownFree: [TOTAL - 61 * GiB] },
      { bytes: 61 * GiB },
    ],
  ])('%s', (_, fixture, expected) => {
    const others = usersOf(fixture);
    if (expected === null) expect(others).toBeNull();
    else expect(others).toMatchObject(expected as object);
  });

  it('do not include the caller', () => {
    expect(usersOf({ processes: [vllm] }, vllm.pid)).toBeNull();
  });

  it.each<[number, number]>([
    [60 * GiB, 6 * GiB],
    [2 * GiB, GiB],
  ])('that hold %d bytes are left %d', (gpuBytes, bytes) => {
    const share = shareFor(null, usersOf({ processes: [{ ...vllm, gpuBytes }] }));
    expect(share?.bytes).toBe(bytes);
    expect(share?.from).toMatch(/^the larger of 1\.0 GiB and 10 % of what they hold, /);
  });

  it('are left what was requested, or 1 GiB if it is not known what they hold', () => {
    expect(shareFor(0, usersOf({ processes: [vllm] }))).toEqual({ bytes: 0, from: 'as requested' });
    expect(shareFor(5 * GiB, null)).toEqual({ bytes: 5 * GiB, from: 'as requested' });
    expect(shareFor(null, null)).toBeNull();
    expect(shareFor(null, usersOf({ container: true }))?.bytes).toBe(GiB);
  });

  it('share the floor on unified memory: the larger of the two binds', () => {
    const floor = { bytes: 8 * GiB, from: 'the rule' };
    const larger = { bytes: 20 * GiB, from: 'as requested' };
    expect(floorWithShare(floor, { bytes: 6 * GiB, from: '' })).toBe(floor);
    expect(floorWithShare(floor, null)).toBe(floor);
    expect(floorWithShare(floor, larger)).toEqual({
      bytes: 20 * GiB,
      from: 'the share of the GPU’s other users: as requested',
    });
  });

  it('are named before the first step, with what stays free for them', () => {
    const others = usersOf({ model: 'discrete', processes: [vllm, xorg], ownFree: [TOTAL - 61 * GiB] });
    const run = { floor: null, share: shareFor(null, others), model: 'discrete' } as const;
    expect(othersSentence(others, run)).toBe(
      'Others use this GPU: vllm (7) holds 60.0 GiB, Xorg (8) 42.0 MiB. 6.0 GiB stay free for them.',
    );
    expect(othersSentence(others, { ...run, share: null })).toMatch(/A size that fits beside them takes/);
    expect(othersSentence(others, { ...run, share: { bytes: 0, from: '' } })).toMatch(/Nothing stays free for them\.$/);
    expect(othersSentence(null, run)).toBeNull();
    const unknown = usersOf({ container: true });
    const floor = { bytes: 8 * GiB, from: '' };
    expect(othersSentence(unknown, { floor, share: null, model: 'unified' })).toMatch(
      /^Who else uses this GPU is not known here: this process is in a PID namespace .* 8\.0 GiB stay available for them/,
    );
    const many = { processes: [1, 2, 3, 4, 5, 6].map((pid) => ({ ...xorg, pid, name: null })), bytes: GiB, from: '' };
    expect(othersSentence(many, run)).toMatch(/process \(4\) 42\.0 MiB and 2 more\./);
  });
});
