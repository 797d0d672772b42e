/** stress() on simulated machines: it finds the maximum and stops before the floor; without its guards the machine freezes. */

import { describe, expect, it } from 'vitest';
import { printedBy } from '../../../support/binary-on-machine.ts';
import { newJournalPath, readRecords } from '../../../support/journals.ts';
import { machineWith, nothingIsHeld, withFastMachine, withMachine } from '../../../support/machines.ts';
import { evaluateOnMachine, stressReport } from '../../../support/package-on-machine.ts';
import { isRunning } from '../../../support/processes.ts';
import { GiB, MiB } from '../../../support/units.ts';

describe('the maximum', () => {
  it('of an idle machine is bound by its floor, reached within a chunk and never passed (simulated)', async () => {
    await withFastMachine('gb10', async (simulation) => {
      const found = await stressReport(simulation, { journal: newJournalPath() });
      expect(found).toMatchObject({ state: 'floor', mode: 'total', simulated: 'gb10', timeScale: 20, guard: null });
      const { available } = found.host;
      const floor = found.floor?.bytes as number;
      const room = (available as number) - floor;
      expect(room - found.maxBytes).toBeLessThan(found.chunkBytes);
      // The context takes 256 MiB, the margin 64 MiB and the resolution at most 64 MiB.
      expect(room - found.maxBytes).toBeLessThan(512 * MiB);
      expect(found.boundBy).toMatch(/^MemAvailable 8\.4\d GiB \(9\.\d\d GB\) less the next 6\d\.\d MiB would be below/);
      const { peak, wedged } = simulation.record() as unknown as { peak: { leastAvailable: number }; wedged: null };
      expect(wedged).toBeNull();
      expect(peak.leastAvailable).toBeGreaterThanOrEqual(floor);
      expect(found.settled).toMatchObject({ settled: true, missing: null });
      await nothingIsHeld(simulation);
    });
  });

  it('is the same when the page cache has all the memory, because that is reclaimed (simulated)', async () => {
    const [idle, cached] = await Promise.all(
      ['gb10', 'gb10-cached'].map((name) =>
        withFastMachine(name, (simulation) => stressReport(simulation, { journal: false })),
      ),
    );
    expect(cached?.state).toBe('floor');
    expect(cached?.host.free).toBeLessThan(10 * GiB);
    expect(Math.abs((cached?.maxBytes ?? 0) - (idle?.maxBytes ?? 0))).toBeLessThanOrEqual(128 * MiB);
  });

  it('of a fragmented machine is what comes in large blocks (simulated)', async () => {
    await withFastMachine('gb10-fragmented', async (simulation) => {
      const found = await stressReport(simulation, { journal: false });
      expect(found.state).toBe('contiguity');
      expect(found.maxBytes).toBeGreaterThan(0);
      expect(simulation.record().wedged).toBeNull();
    });
  });

  it('of a discrete GPU is bound by its out-of-memory; the host has no floor (simulated)', async () => {
    await withFastMachine('h200', async (simulation) => {
      const found = await stressReport(simulation, { journal: false });
      expect(found).toMatchObject({ state: 'out-of-memory', floor: null });
      expect(found.device.total as number).toBeGreaterThan(found.maxBytes);
      expect(found.boundBy).toMatch(/refused .*2\.0 MiB|refused 0\.00 GiB/);
      const single = await stressReport(simulation, { journal: false, single: true });
      expect(Math.abs(single.maxBytes - found.maxBytes)).toBeLessThanOrEqual(64 * MiB);
      expect(single.steps.length).toBeLessThan(12);
    });
  });

  it('in one block is found in three steps (simulated)', async () => {
    await withFastMachine('gb10', async (simulation) => {
      const found = await stressReport(simulation, { journal: false, single: true });
      expect(found).toMatchObject({ state: 'floor', mode: 'single' });
      expect(found.maxBytes).toBeGreaterThan(103 * GiB);
      expect(found.steps.map(({ state }) => state)).toEqual(['ok', 'ok', 'ok']);
    });
  });

  it('is the requested limit to the byte, with each byte verified and the maximum held (simulated)', async () => {
    await withFastMachine('gb10', async (simulation) => {
      const max = 3 * GiB + 12_345;
      const found = await stressReport(simulation, { journal: false, maxBytes: max, verify: true, holdMs: 2_000 });
      expect(found).toMatchObject({ state: 'limit', maxBytes: max, verified: { bytes: max, mismatches: 0 } });
      expect(found.holdMs).toBeGreaterThanOrEqual(2_000);
      expect(found.steps.every(({ touchMs, verifyMs }) => touchMs !== null && verifyMs !== null)).toBe(true);
    });
  });

  it('of managed memory on a discrete GPU is its free memory; none of it spills to the host (simulated)', async () => {
    await withFastMachine('rtx3060-fallback', async (simulation) => {
      const found = await stressReport(simulation, { journal: false, kind: 'managed' });
      expect(found.maxBytes).toBeLessThanOrEqual(found.device.total as number);
      expect(found.maxBytes).toBeGreaterThan((found.device.total as number) * 0.8);
      expect(found.floor).not.toBeNull();
    });
  });

  it('leaves memory in the driver’s pools, reported with the remedy (simulated)', async () => {
    await withFastMachine('gb10-590-pools', async (simulation) => {
      const found = await stressReport(simulation, { journal: false });
      expect(found.settled.missing?.bytes).toBeGreaterThan(70 * GiB);
      expect(found.settled.missing?.explanation).toMatch(/page pools grew.*drop_caches/);
      const single = await stressReport(simulation, {
        journal: false,
        single: true,
        acceptAFrozenMachine: true,
        floorBytes: 2 * GiB,
      });
      expect(single.maxBytes).toBeGreaterThan(100 * GiB);
    });
  });
});

describe('while another process takes 40 GiB in 3 s', () => {
  const crowded = machineWith('gb10', {
    processes: [{ name: 'neighbour', pid: 4_200_001, gpuBytes: 0, anonBytes: 0 }],
    events: [
      { atMs: 1_500, what: 'anon', bytes: 40 * GiB, overMs: 3_000, process: 'neighbour', afterFirstAllocation: true },
    ],
  });

  it('the search ends with what it held, the machine lives, and the child is gone within a second (simulated)', async () => {
    await withMachine(
      crowded,
      async (simulation) => {
        const journal = newJournalPath();
        const found = await stressReport(simulation, { journal });
        expect(found.state).toBe('floor');
        expect(found.maxBytes).toBeGreaterThan(20 * GiB);
        expect(found.maxBytes).toBeLessThan(90 * GiB);
        expect(simulation.record().wedged).toBeNull();
        const written = readRecords(journal);
        const time = (type: string) => Date.parse(written.filter((one) => one.type === type).at(-1)?.at ?? '');
        expect(time('gone') - time('result')).toBeLessThan(1_000);
        expect(written.flatMap((one) => (one.type === 'step' ? [one.pid] : [])).some(isRunning)).toBe(false);
      },
      { scale: 1 },
    );
  });

  it('the guard frees a held maximum before the machine freezes (simulated)', async () => {
    const later = { ...crowded, events: [{ ...(crowded.events as [object])[0], atMs: 24_000 }] };
    await withMachine(
      later as typeof crowded,
      async (simulation) => {
        const found = await stressReport(simulation, { journal: false, holdMs: 600_000 });
        expect(found.state).toBe('floor');
        expect(found.guard).toMatchObject({ reason: 'floor' });
        expect(found.boundBy).toMatch(/^the guard stopped it: MemAvailable/);
        expect(found.maxBytes).toBeGreaterThan(100 * GiB);
        expect(simulation.record().wedged).toBeNull();
      },
      { scale: 4 },
    );
  });

  it('says that dirty pages are written first, and does not wait for them once it is aborted (simulated)', async () => {
    const { events, ms, state } = await evaluateOnMachine<{ events: unknown[]; ms: number; state: string }>(
      'gb10',
      `const stop = new AbortController();
       const events = [];
       const began = performance.now();
       const onEvent = (event) => { events.push(event); if (event.type === 'writing') stop.abort(); };
       const { state } = await umaprobe.stress({ journal: false, signal: stop.signal, onEvent });
       return { events, ms: performance.now() - began, state };`,
      { change: 'machine.memory.fileCache = 96636764160; machine.memory.fileDirty = 64424509440;', scale: 1 },
    );
    expect(events[0]).toEqual({ type: 'writing', dirtyBytes: 60 * GiB });
    expect(state).toBe('aborted');
    // The simulated disk needs 20 s for them.
    expect(ms).toBeLessThan(10_000);
  });

  // Positive control: the tests above prove nothing on a machine that cannot freeze.
  it('the same search without prediction, floor and guard freezes the same machine (simulated)', async () => {
    await withMachine(
      crowded,
      async (simulation) => {
        const [end] = await printedBy(
          `await b.allocOpen(0, 5000);
           let end;
           for (let bytes = 256 * 2 ** 20; ; bytes = Math.min(bytes * 2, 4 * 2 ** 30)) {
             end = await b.allocBlock('device', bytes, 6000);
             if (end.failed) break;
           }
           print(end.name);
           process.exit(0);`,
          simulation.env,
        );
        expect(end).toBe('TIMEOUT');
        expect(simulation.record().wedged).not.toBeNull();
      },
      { scale: 4 },
    );
  });
});
