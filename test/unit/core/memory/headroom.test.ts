/** GPUs with memory of their own: which of them count, and how much each of them has. */

import { expect, it } from 'vitest';
import { isUnread } from '../../../../lib/base/facts.ts';
import { formatBoth } from '../../../../lib/base/format.ts';
import { totalOf, visibleHeadrooms } from '../../../../lib/core/memory/headroom.ts';
import { changed, type MachineFixture } from '../../../support/snapshots.ts';
import { GiB } from '../../../support/units.ts';

const OWN: MachineFixture = { model: 'discrete', ownFree: [50 * GiB, 20 * GiB] };
const seen = (...visible: boolean[]) =>
  visibleHeadrooms(
    changed(({ devices }) => {
      for (const [index, device] of devices.entries()) device.visible = visible[index] ?? false;
    }, OWN),
  ).map(({ device }) => device.index);

it('those that programs started here find, the fullest first; where they find none, all', () => {
  expect(seen(true, true)).toEqual([1, 0]);
  expect(seen(true, false)).toEqual([0]);
  expect(seen(false, false)).toEqual([1, 0]);
});

it('a slice of a GPU has its own size, not that of the whole', () => {
  const totals = (current: boolean) => {
    const [device] = changed(({ devices: [first] }) => {
      if (first === undefined) return;
      first.migMode = { current, pending: current };
      first.cuda = { free: GiB, total: 10 * GiB };
    }, OWN).devices;
    return device === undefined ? null : [totalOf(device, 0), device.nvml?.total];
  };
  const [slice, whole] = totals(true) ?? [];
  expect(slice).toBe(10 * GiB);
  expect(totals(false)).toEqual([whole, whole]);
});

it('a fact that is not supported is not unread', () => {
  expect(['ERR_UMA_TIMEOUT: x', 'ERR_UMA_NOT_SUPPORTED: x', '/proc/x', undefined].map(isUnread)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

it('a loss of gigabytes is written as one', () => expect(formatBoth(-2 * GiB)).toBe('-2.00 GiB (-2.15 GB)'));
