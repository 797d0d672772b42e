/** Pressure: what reclaim costs that hands memory out, and what comes before a machine freezes. All *simulated*. */

import { describe, expect, it } from 'vitest';
import type { NativeTripReport } from '../../../lib/native/contract.ts';
import { loadMachine } from '../../../lib/sim.ts';
import { onMachine as bare, runModule } from '../../support/binary-on-machine.ts';
import { GiB, machine, onMachine, report } from '../../support/probe-runner.ts';

describe('a machine full of page cache that is slow to give it back', () => {
  // Some twenty times slower than the lab's: half a minute of direct reclaim, in which PSI full climbs to 10 % and more.
  const slow = { timing: { ...(loadMachine('gb10-cached').timing as object), reclaimMsPerGiB: 300 } };

  it('is searched to its floor: the search waits for pressure of its own making to fall (simulated)', async () => {
    await onMachine(machine('gb10-cached', slow), async (simulation) => {
      const found = await report(simulation, { journal: false });
      const { peak, wedged } = simulation.record() as unknown as { peak: { pressureFull10: number }; wedged: null };
      // Steps that follow one another at once bring it over 10 % near the floor, and the guard ends the search there.
      expect(peak.pressureFull10).toBeGreaterThan(3);
      expect(found).toMatchObject({ state: 'floor', guard: null });
      expect(found.maxBytes).toBeGreaterThan(103 * GiB);
      expect(wedged).toBeNull();
    });
  });

  it('gives one large block: the guard sees memory fall by what is handed out, and lets it (simulated)', async () => {
    await onMachine(machine('gb10-cached', slow), async (simulation) => {
      const found = await report(simulation, { journal: false, single: true, max: 98 * GiB });
      const { peak } = simulation.record() as unknown as { peak: { pressureFull10: number } };
      expect(peak.pressureFull10).toBeGreaterThan(10);
      expect(found).toMatchObject({ state: 'limit', maxBytes: 98 * GiB, guard: null });
    });
  });
});

describe('the guard under pressure', () => {
  const GUARD = `const guard = (options) => b.guardStart({ floor: ${2 * GiB}, pressureFull: 10, intervalUs: 5000, parent: 0, exitAfterMs: 200, wordsFd: 1, ...options });
    const block = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    await b.allocOpen(0, 10000);`;

  it('stops at once near its floor, although memory is still handed out (simulated)', async () => {
    const slow = { timing: { ...(loadMachine('gb10-cached').timing as object), reclaimMsPerGiB: 4_000 } };
    await onMachine(
      machine('gb10-cached', slow),
      async ({ env }) => {
        const ended = await runModule(
          `${GUARD} const host = new Float64Array(35); b.hostMemory(host);
          guard({ floor: host[b.hostMemoryFields().indexOf('available')] / 1.2 });
          b.allocBlock('device', ${30 * GiB}, 60000); block(30000);`,
          env,
        );
        const [tripped] = ended.stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as NativeTripReport);
        expect(tripped).toMatchObject({ reason: 'pressure', left: false });
        expect(ended).toMatchObject({ code: 6, signal: null });
      },
      20,
    );
  });

  it('far above its floor leaves when a call gets nothing any more, before the machine freezes (simulated)', async () => {
    // Memory in pieces, on a driver that waits for blocks of 2 MiB until nothing moves: 118 GiB are available meanwhile.
    const pieces = machine('gb10-fragmented', {
      contiguity: { ...(loadMachine('gb10-fragmented').contiguity as object), whenFragmented: 'wedge' },
    });
    await bare(pieces, async ({ env, record }) => {
      const ended = await runModule(
        `${GUARD} guard({}); for (let i = 0; i < 40; i++) b.allocBlock('device', ${4 * GiB}, 60000); block(30000);`,
        env,
      );
      const words = ended.stdout.trim().split('\n');
      const [tripped] = words.map((line) => JSON.parse(line) as NativeTripReport);
      expect(tripped).toMatchObject({ reason: 'pressure', left: false });
      expect(tripped?.available).toBeGreaterThan(20 * GiB);
      expect(ended).toMatchObject({ code: 6, signal: null });
      expect(record().wedged).toBeNull();
    });
  });

  it('of a process whose parent was gone before it began says so at once (simulated)', async () => {
    await bare(loadMachine('gb10'), async ({ env }) => {
      // A number that is not its parent's: as after a parent that died while this process was loading.
      const ended = await runModule(`${GUARD} guard({ parent: process.pid }); block(30000);`, env);
      expect(ended).toMatchObject({ code: 6, signal: null });
      const [tripped, left] = ended.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as NativeTripReport);
      expect(tripped).toMatchObject({ reason: 'parent', left: false });
      expect(left).toMatchObject({ reason: 'parent', left: true });
    });
  });
});
