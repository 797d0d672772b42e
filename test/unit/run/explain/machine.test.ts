/** What a size in a message means on this machine: whether it fits, and whether it is safe. */
import { expect, it } from 'vitest';
import { GiB } from '../../../../lib/base/format.ts';
import { headroom } from '../../../../lib/core/memory/headroom.ts';
import { fitText, machineOf } from '../../../../lib/run/explain/machine.ts';
import { snapshotOf } from '../../../support/snapshots.ts';

it('does not call what takes the host below its floor a fit, and calls any smaller size one', () => {
  const snapshot = snapshotOf();
  const { afterReclaim, safe } = headroom(snapshot);
  if (afterReclaim === null || safe === null) throw new Error('an idle Spark has room');
  const machine = machineOf(snapshot);

  expect(fitText('it needs so much', safe, machine)).toMatch(/it fits/);
  expect(fitText('it needs so much', safe, machine)).not.toContain('safe to load');
  expect(fitText('it needs so much', safe + GiB, machine)).toMatch(/, but no more than .* is safe to load\.$/);
  expect(fitText('it needs so much', afterReclaim + GiB, machine)).toContain('1.0 GiB too little');
});
