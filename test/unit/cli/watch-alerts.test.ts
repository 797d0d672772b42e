/** What watch calls attention to: changes only, and never a number that is unknown. */
import { describe, expect, it } from 'vitest';
import { Alerts } from '../../../lib/cli/commands/watch.ts';
import { type MachineFixture, snapshotOf } from '../../support/snapshots.ts';
import { GiB } from '../../support/units.ts';

const availableOf = (available: number | null): MachineFixture => ({ host: { available } });

describe('alerts', () => {
  it('say once that available memory is below a size, and again when it was above it meanwhile', () => {
    const alerts = new Alerts(80 * GiB);
    const said = [100, 79, 70, 80, 60].map((size) =>
      alerts.see(snapshotOf(availableOf(size * GiB))).filter((text) => /Available/.test(text)),
    );
    expect(said.map(({ length }) => length)).toEqual([0, 1, 0, 0, 1]);
    expect(said[1]).toEqual(['12:34:56 UTC: Available memory is 79.0 GiB, below 80.0 GiB.']);
  });

  it('say nothing of a size that is unknown, but that the verdict has changed', () => {
    const alerts = new Alerts(80 * GiB);
    expect(alerts.see(snapshotOf())).toEqual([]);
    const said = alerts.see(snapshotOf(availableOf(null)));
    expect(said).toEqual([expect.stringMatching(/^12:34:56 UTC: The verdict is warning, and was ok: /)]);
    expect(alerts.see(snapshotOf(availableOf(null)))).toEqual([]);
  });

  it('without a size say what the verdict is now', () => {
    const alerts = new Alerts(null);
    expect(alerts.see(snapshotOf({ full: 30 }))).toEqual([]);
    expect(alerts.see(snapshotOf())).toEqual([expect.stringMatching(/The verdict is ok, and was notice/)]);
  });
});
