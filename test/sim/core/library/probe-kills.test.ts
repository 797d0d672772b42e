/** The child, its parent or both are killed at every record of the journal: memory is freed, and the next run reports it. */

import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isAlive } from '../../../../lib/core/host/process.ts';
import { runsOf } from '../../../../lib/core/journal/runs.ts';
import { begin, bytesOf, newJournalPath, readRecords, result, step } from '../../../support/journals.ts';
import { machineWith, nothingIsHeld, withFastMachine } from '../../../support/machines.ts';
import { runStress, stressReport } from '../../../support/package-on-machine.ts';
import { isRunning } from '../../../support/processes.ts';
import { GiB, MiB } from '../../../support/units.ts';
import { waitFor } from '../../../support/wait.ts';

/** Small, so that the search is short: 256 MiB, 512 MiB, 1 GiB, 2 GiB, and the rest. */
const options = { maxBytes: 5 * GiB };
/** The child writes each step, its result, and the end; the parent writes the beginning and that the child is gone. */
const STEPS = 5;
const RECORDS = Array.from({ length: STEPS * 2 + 1 }, (_, at) => at + 1);

async function killedAt(at: number, what: string): Promise<void> {
  const journal = newJournalPath();
  await withFastMachine('gb10', async (simulation) => {
    const killed = await runStress(simulation, { ...options, journal }, { at: `${at} ${what}` });
    // The journal is readable in every case.
    const written = () => runsOf(readRecords(journal))[0];
    const alive = () => written()?.writers.filter(isAlive) ?? [];
    await waitFor('the end of the processes in the journal', alive, (writers) => writers.length === 0);
    const before = written();
    await nothingIsHeld(simulation);
    expect(simulation.record().wedged).toBeNull();

    if (what === 'kill-child') {
      // The parent lives and reports the steps that it received; with an end in the journal nothing is unfinished.
      expect(killed.report?.maxBytes).toBe(Math.max(0, ...killed.steps.map(({ heldBytes }) => heldBytes)));
      expect(killed.report?.state).toBe(at > STEPS * 2 ? 'limit' : 'lost');
    } else {
      expect(killed.signal).toBe('SIGKILL');
    }

    const open = before?.open ?? null;
    // A killed child leaves the step of its last record open; a child whose parent was killed may still finish it.
    if (what !== 'kill-parent') expect(open !== null).toBe(at % 2 === 1 && at < STEPS * 2);
    const next = await stressReport(simulation, { ...options, journal, resume: true });
    if (open === null) {
      expect(next.unfinished).toBeNull();
      expect(next).toMatchObject({ state: 'limit', maxBytes: options.maxBytes });
      return;
    }
    const { heldBytes, targetBytes } = open;
    expect(next.unfinished).toMatchObject({ command: 'stress', heldBytes, targetBytes, otherBoot: false });
    expect(next.unfinished?.sentence).toMatch(/^the process vanished .* while taking \d.*B to \d.*B of device memory/);
    expect(next.maxBytes, 'resumed below the step that was lost').toBeLessThan(targetBytes);
    expect(next.maxBytes).toBeGreaterThanOrEqual(before?.provenBytes ?? 0);
    expect(next.boundBy).toContain('an earlier run ended there');
  });
}

describe.each(['kill-child', 'kill-parent', 'kill-both'])('%s at every record (simulated)', (what) => {
  it.each(RECORDS)('record %i', (at) => killedAt(at, what), 30_000);
});

it.each([
  ['grew from 1 to 3 GiB', 3 * GiB, GiB, 2 * GiB],
  ['held 1 GiB', GiB, 0.75 * GiB, GiB - 64 * MiB],
])('a run that was lost while it %s is resumed below (simulated)', async (_, target, least, most) => {
  const journal = newJournalPath();
  const records = [begin('one'), step('one', 0, GiB), result('one', GiB), step('one', GiB, target)];
  writeFileSync(journal, bytesOf(records.map((record) => ({ ...record, simulated: 'gb10' }))));
  await withFastMachine('gb10', async (simulation) => {
    const next = await stressReport(simulation, { ...options, journal, resume: true });
    expect(next.boundBy).toContain('an earlier run ended there');
    expect(next.maxBytes).toBeGreaterThanOrEqual(least);
    expect(next.maxBytes).toBeLessThanOrEqual(most);
  });
});

describe('a child without progress', () => {
  it('is killed when it is stopped, and reported as lost (simulated)', async () => {
    const journal = newJournalPath();
    await withFastMachine('gb10', async (simulation) => {
      const { boundBy, maxBytes, state } = await stressReport(simulation, { ...options, journal }, { at: '3 stop' });
      expect(state).toBe('lost');
      expect(boundBy).toMatch(/no sign of life for 5 s and was killed/);
      expect(maxBytes).toBe(256 * MiB);
      await nothingIsHeld(simulation);
      const pids = readRecords(journal).flatMap((one) => (one.type === 'step' ? [one.pid] : []));
      expect(pids.some(isRunning)).toBe(false);
    });
  });

  it('ends with its parent even while it is stopped, and its memory returns (simulated)', async () => {
    const journal = newJournalPath();
    await withFastMachine('gb10', async (simulation) => {
      const killed = await runStress(simulation, { ...options, journal }, { at: '4 stop-orphan' });
      expect(killed.signal).toBe('SIGKILL');
      await nothingIsHeld(simulation);
      const pids = readRecords(journal).flatMap((one) => (one.type === 'step' ? [one.pid] : []));
      expect(pids.length).toBeGreaterThan(0);
      expect(pids.some(isRunning)).toBe(false);
    });
  });

  it('is not killed when only the parent was blocked (simulated)', async () => {
    await withFastMachine('gb10', async (simulation) => {
      const found = await stressReport(simulation, { ...options, journal: false }, { blockMs: 6_000 });
      expect(found).toMatchObject({ state: 'limit', maxBytes: options.maxBytes });
    });
  });

  it('inside a hung cudaMalloc: the call is named, the step stays open, the next run stays below it (simulated)', async () => {
    const hanging = machineWith('gb10', { faults: { hang: [{ call: 'cudaMalloc', ms: 600_000, after: 2 }] } });
    const journal = newJournalPath();
    await withFastMachine(hanging, async (simulation) => {
      const found = await stressReport(simulation, { ...options, journal, stepTimeoutMs: 3000 });
      expect(found.state).toBe('timeout');
      expect(found.boundBy).toMatch(/ERR_UMA_TIMEOUT: cudaMalloc/);
      expect(found.maxBytes).toBe(768 * MiB);
      await nothingIsHeld(simulation);
    });
    await withFastMachine('gb10', async (simulation) => {
      const next = await stressReport(simulation, { ...options, journal, resume: true });
      // Another simulated machine has booted since.
      expect(next.unfinished).toMatchObject({ otherBoot: true, provenBytes: 768 * MiB });
      expect(next.unfinished?.sentence).toMatch(
        /^the machine vanished while taking 768\.0 MiB to 1\.8 GiB of device memory/,
      );
      expect(next.maxBytes).toBeLessThan(1792 * MiB);
    });
  });
});

describe('a run that is ended', () => {
  it('by its caller reports what it holds (simulated)', async () => {
    await withFastMachine('gb10', async (simulation) => {
      const found = await stressReport(simulation, { journal: false }, { abortAfter: 4 });
      expect(found.state).toBe('aborted');
      expect(found.maxBytes).toBeGreaterThanOrEqual(3.75 * GiB);
      expect(found.maxBytes).toBeLessThan(60 * GiB);
      await nothingIsHeld(simulation);
    });
  });

  it('by its time limit reports what it holds, even while it holds the maximum (simulated)', async () => {
    await withFastMachine('gb10', async (simulation) => {
      const found = await stressReport(simulation, { ...options, journal: false, holdMs: 3_600_000, timeoutMs: 1_000 });
      expect(found).toMatchObject({ state: 'timeout', maxBytes: options.maxBytes });
    });
  });

  it('a verification that reads a wrong byte fails with its offset (simulated)', async () => {
    const wrong = machineWith('gb10', { faults: { corrupt: [{ offset: 12_345 }] } });
    await withFastMachine(wrong, async (simulation) => {
      const found = await stressReport(simulation, { maxBytes: GiB, verify: true, journal: false });
      expect(found.state).toBe('failed');
      expect(found.verified?.mismatches).toBeGreaterThan(0);
      expect(found.boundBy).toMatch(/wrong bytes, the first at offset 12345/);
    });
  });
});
