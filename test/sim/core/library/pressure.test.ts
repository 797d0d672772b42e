/** Pressure: the normal cost of reclaim, and the stall before a machine freezes. All *simulated*. */

import { describe, expect, it } from 'vitest';
import type { ProbeTrip } from '../../../../lib/core/native/contract.ts';
import type { Simulation } from '../../../../lib/sim.ts';
import { runWithBinary } from '../../../support/binary-on-machine.ts';
import { machineWith, withFastMachine, withMachine } from '../../../support/machines.ts';
import { stressReport } from '../../../support/package-on-machine.ts';
import { GUARD } from '../../../support/probe-guard.ts';
import { parseLines } from '../../../support/processes.ts';
import { GiB } from '../../../support/units.ts';

describe('a machine full of page cache that is slow to give it back', () => {
  // About twenty times slower than the lab's machine: 30 s of direct reclaim, in which PSI full exceeds 10 %.
  const slow = machineWith('gb10-cached', { timing: { reclaimMsPerGiB: 300 } });

  it('is searched to its floor: the search waits until the pressure that it causes falls (simulated)', async () => {
    await withFastMachine(slow, async (simulation) => {
      const found = await stressReport(simulation, { journal: false });
      const { peak, wedged } = simulation.record() as unknown as { peak: { pressureFull10: number }; wedged: null };
      // Without waiting it would exceed 10 % near the floor, where the guard would end the search.
      expect(peak.pressureFull10).toBeGreaterThan(3);
      expect(found).toMatchObject({ state: 'floor', guard: null });
      expect(found.maxBytes).toBeGreaterThan(103 * GiB);
      expect(wedged).toBeNull();
    });
  });

  it('gives one large block: the guard does not trip while reclaimed memory is allocated (simulated)', async () => {
    const search = async (simulation: Simulation) => {
      const found = await stressReport(simulation, { journal: false, single: true, maxBytes: 98 * GiB });
      const { peak } = simulation.record() as unknown as { peak: { pressureFull10: number } };
      expect(peak.pressureFull10).toBeGreaterThan(10);
      expect(found).toMatchObject({ state: 'limit', maxBytes: 98 * GiB, guard: null });
    };
    // A call without progress for a second is a stall: 50 ms without a processor, where the clock runs 20 times as fast.
    await withMachine(machineWith('gb10-cached', { timing: { reclaimMsPerGiB: 1500 } }), search, { scale: 5 });
  });
});

describe('the guard under pressure', () => {
  const TOOLS = `${GUARD} const start = (rules) => guard({ floorBytes: ${2 * GiB}, pressureFullPercent: 10, exitAfterMs: 200, reportFd: 1, ...rules });
    const block = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    await b.allocOpen(0, 10000);`;

  it('stops at once near its floor, although memory is still allocated (simulated)', async () => {
    const slow = machineWith('gb10-cached', { timing: { reclaimMsPerGiB: 4_000 } });
    await withMachine(
      slow,
      async ({ env }) => {
        const ended = await runWithBinary(
          `${TOOLS} const host = new Float64Array(35); b.hostMemory(host);
          start({ floorBytes: host[b.hostMemoryFields().indexOf('available')] / 1.2 });
          b.allocBlock('device', ${30 * GiB}, 60000); block(30000);`,
          env,
        );
        const [tripped] = parseLines<ProbeTrip>(ended.stdout);
        expect(tripped).toMatchObject({ reason: 'pressure', left: false });
        expect(ended).toMatchObject({ code: 6, signal: null });
      },
      { scale: 20 },
    );
  });

  it('exits far above its floor when a call makes no progress, before the machine freezes (simulated)', async () => {
    // Fragmented memory, and a driver that waits for blocks of 2 MiB for ever: 118 GiB are available meanwhile.
    const pieces = machineWith('gb10-fragmented', {
      contiguity: { whenFragmented: 'wedge' },
    });
    await withMachine(pieces, async ({ env, record }) => {
      const ended = await runWithBinary(
        `${TOOLS} start({}); for (let i = 0; i < 40; i++) b.allocBlock('device', ${4 * GiB}, 60000); block(30000);`,
        env,
      );
      const [tripped] = parseLines<ProbeTrip>(ended.stdout);
      expect(tripped).toMatchObject({ reason: 'pressure', left: false });
      expect(tripped?.available).toBeGreaterThan(20 * GiB);
      expect(ended).toMatchObject({ code: 6, signal: null });
      expect(record().wedged).toBeNull();
    });
  });

  it('trips at once when the parent was gone before it started (simulated)', async () => {
    await withMachine('gb10', async ({ env }) => {
      // A pid that is not its parent's, as after a parent that died while this process was loading.
      const ended = await runWithBinary(`${TOOLS} start({ parent: process.pid }); block(30000);`, env);
      expect(ended).toMatchObject({ code: 6, signal: null });
      const [tripped, exited] = parseLines<ProbeTrip>(ended.stdout);
      expect(tripped).toMatchObject({ reason: 'parent', left: false });
      expect(exited).toMatchObject({ reason: 'parent', left: true });
    });
  });
});
