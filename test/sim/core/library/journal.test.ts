/** The journal of stress(): refused paths, a full disk, two runs at a time. */

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { newJournalPath, readRecords } from '../../../support/journals.ts';
import { nothingIsHeld, withFastMachine } from '../../../support/machines.ts';
import { runStress, startStress, stressReport } from '../../../support/package-on-machine.ts';
import { GiB, MiB } from '../../../support/units.ts';
import { waitFor } from '../../../support/wait.ts';

const options = { maxBytes: 2 * GiB };

describe('a journal that cannot be used', () => {
  it('fails the call with one line before anything is allocated (simulated)', async () => {
    const [link, directory, text] = [newJournalPath(), newJournalPath(), newJournalPath()];
    symlinkSync('/etc/hostname', link);
    mkdirSync(directory);
    writeFileSync(text, 'no journal\n');
    await withFastMachine('gb10', async (simulation) => {
      for (const [journal, message] of [
        [link, /symbolic link/],
        [directory, /is a directory/],
        [text, /line 1 \(byte 0\) is not a record/],
      ] as const) {
        const { error } = await runStress(simulation, { ...options, journal });
        expect(error?.code).toBe('ERR_UMA_JOURNAL');
        expect(error?.message).toMatch(message);
        expect(error?.message).not.toContain('\n');
      }
      expect(readFileSync(text, 'utf8')).toBe('no journal\n');
      expect(simulation.record()).toMatchObject({ counts: { contexts: 0, allocations: 0 } });
    });
  });

  it('because the disk is full stops the run before the next step, and all memory is freed (simulated)', async () => {
    const journal = newJournalPath();
    await withFastMachine('gb10', async (simulation) => {
      const { state, boundBy, maxBytes, steps } = await stressReport(
        simulation,
        { ...options, journal },
        { at: '5 no-space' },
      );
      expect(state).toBe('journal');
      expect(boundBy).toMatch(/no space left on device: no further step is run/);
      expect(maxBytes).toBe(768 * MiB);
      // Records 1 to 4 are two steps and their results; the third step was never asked of CUDA.
      expect(steps).toHaveLength(2);
      const { peak } = simulation.record() as unknown as { peak: { gpuBytes: number } };
      expect(peak.gpuBytes).toBeLessThan(1.5 * GiB); // a context, 256 MiB and 512 MiB
      await nothingIsHeld(simulation);
      expect(readRecords(journal).at(-1)?.type).toBe('gone');
    });
  });
});

it('a second run at the same time is refused with the pid of the first, and changes nothing (simulated)', async () => {
  const journal = newJournalPath();
  await withFastMachine('gb10', async (simulation) => {
    const first = startStress(simulation, { ...options, journal, holdMs: 300_000 });
    const begun = () => {
      try {
        return readRecords(journal).some(({ type }) => type === 'result');
      } catch {
        return false;
      }
    };
    await waitFor('a result in the journal', begun);
    const { error } = await runStress(simulation, { ...options, journal });
    expect(error?.code).toBe('ERR_UMA_BUSY');
    expect(error?.message).toMatch(new RegExp(`a stress of process ${first.parent.pid}, started 20`));
    expect((await first.result).report).toMatchObject({ state: 'limit', maxBytes: options.maxBytes });
    expect(await stressReport(simulation, { ...options, journal })).toMatchObject({ state: 'limit', unfinished: null });
  });
});

it('the steps of a report add up (simulated)', async () => {
  await withFastMachine('gb10', async (simulation) => {
    const found = await stressReport(simulation, { journal: newJournalPath() }, {});
    expect(found.steps.reduce((sum, { allocMs }) => sum + (allocMs ?? 0), 0)).toBeLessThanOrEqual(found.cudaMs + 1);
    expect(found.steps.map(({ heldBytes }) => heldBytes)).toEqual(
      [...found.steps.map(({ heldBytes }) => heldBytes)].sort((a, b) => a - b),
    );
  });
});
