/** Signs that no CUDA program can start, where none was tried. */

import { describe, expect, it } from 'vitest';
import { health } from '../../../lib/memory/health.ts';
import { noBlockForContext, suspectDriver } from '../../../lib/memory/untried-context.ts';
import type { Snapshot } from '../../../lib/types/index.ts';
import { type MachineFixture, snapshotOf } from '../../support/snapshots.ts';
import { GiB } from '../../support/units.ts';

function withDriver(version: string | null, fixture: MachineFixture = {}): Snapshot {
  const snapshot = snapshotOf(fixture);
  snapshot.driver.version = version;
  snapshot.libraries.nvml = { ...snapshot.libraries.nvml, driverVersion: version };
  for (const device of snapshot.devices) device.cuda = null;
  return snapshot;
}

describe('a driver that is reported to refuse contexts', () => {
  it('is a notice, with the command that tries one', () => {
    expect(health(withDriver('615.16'))).toMatchObject({
      level: 'notice',
      text: expect.stringMatching(/^Whether a CUDA program can start was not tried, and driver 615\.16 is reported/),
      next: expect.stringContaining('umaprobe doctor --only library.cuda'),
    });
  });

  it.each(['580.142', '615.160', '615.17.01', null])('is not driver %s', (version) => {
    expect(suspectDriver(withDriver(version))).toBeNull();
  });

  it('is no concern where a context was created, nor on a GPU with memory of its own', () => {
    const tried = withDriver('615.16');
    for (const device of tried.devices) device.cuda = { free: GiB, total: 100 * GiB };
    expect(suspectDriver(tried)).toBeNull();
    expect(suspectDriver(withDriver('615.16', { model: 'discrete' }))).toBeNull();
  });
});

describe('hardly any free block of 2 MiB', () => {
  const full: MachineFixture = { host: { free: GiB, available: 17 * GiB }, largeShare: 0.03 };

  it('is a warning only where a context was not tried', () => {
    expect(health(withDriver('580.142', full))).toMatchObject({
      level: 'warning',
      text: expect.stringMatching(/^A CUDA program may fail to start: only 0 B are free.*17\.0 GiB can be allocated/),
    });
    const tried = withDriver('580.142', full);
    for (const device of tried.devices) device.cuda = { free: GiB, total: 100 * GiB };
    expect(noBlockForContext(tried)).toBeNull();
  });

  it('is none with 64 MiB in such blocks, or where the kernel does not report them', () => {
    expect(noBlockForContext(withDriver('580.142', { ...full, largeShare: 0.1 }))).toBeNull();
    const unknown = withDriver('580.142', full);
    unknown.contiguity = null;
    expect(noBlockForContext(unknown)).toBeNull();
  });
});
