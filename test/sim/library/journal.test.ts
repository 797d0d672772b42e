/** The journal as a caller of stress() meets it. */

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  GiB,
  heldAtRest,
  journalPath,
  MiB,
  machine,
  onMachine,
  records,
  report,
  run,
  start,
} from '../../support/probe-runner.ts';

const gb10 = machine('gb10');
const options = { max: 2 * GiB };

describe('a journal that cannot be used', () => {
  it('ends the call with one line before anything is allocated (simulated)', async () => {
    const [link, directory, text] = [journalPath(), journalPath(), journalPath()];
    symlinkSync('/etc/hostname', link);
    mkdirSync(directory);
    writeFileSync(text, 'no journal\n');
    await onMachine(gb10, async (simulation) => {
      for (const [journal, words] of [
        [link, /symbolic link/],
        [directory, /is a directory/],
        [text, /line 1 \(byte 0\) is not a record/],
      ] as const) {
        const { error } = await run(simulation, { ...options, journal });
        expect(error?.code).toBe('ERR_UMA_JOURNAL');
        expect(error?.message).toMatch(words);
        expect(error?.message).not.toContain('\n');
      }
      expect(readFileSync(text, 'utf8')).toBe('no journal\n');
      expect(simulation.record()).toMatchObject({ counts: { contexts: 0, allocations: 0 } });
    });
  });

  it('because the disk is full stops before the step, and all memory comes back (simulated)', async () => {
    const journal = journalPath();
    await onMachine(gb10, async (simulation) => {
      const { state, boundBy, maxBytes, steps } = await report(
        simulation,
        { ...options, journal },
        { at: '5 no-space' },
      );
      expect(state).toBe('failed');
      expect(boundBy).toMatch(/no space left on device: the step was not made/);
      expect(maxBytes).toBe(768 * MiB);
      // Records 1 to 4 are two steps and their results; the third step was never asked of CUDA.
      expect(steps).toHaveLength(2);
      const { peak } = simulation.record() as unknown as { peak: { gpuBytes: number } };
      expect(peak.gpuBytes).toBeLessThan(1.5 * GiB); // a context, 256 MiB and 512 MiB
      expect(await heldAtRest(simulation)).toBe(0);
      expect(records(journal).at(-1)?.type).toBe('gone');
    });
  });
});

it('two at a time: the second is told who the first is, and changes nothing (simulated)', async () => {
  const journal = journalPath();
  await onMachine(gb10, async (simulation) => {
    const first = start(simulation, { ...options, journal, holdMs: 60_000 });
    const begun = () => {
      try {
        return records(journal).some(({ type }) => type === 'result');
      } catch {
        return false;
      }
    };
    while (!begun()) await new Promise((resolve) => setTimeout(resolve, 20));
    const { error } = await run(simulation, { ...options, journal });
    expect(error?.code).toBe('ERR_UMA_BUSY');
    expect(error?.message).toMatch(new RegExp(`a stress of process ${first.parent.pid}, begun 20`));
    expect((await first.ran).report).toMatchObject({ state: 'limit', maxBytes: options.max });
    expect(await report(simulation, { ...options, journal })).toMatchObject({ state: 'limit', unfinished: null });
  });
});

it('the steps of a report add up (simulated)', async () => {
  await onMachine(gb10, async (simulation) => {
    const found = await report(simulation, { journal: journalPath() }, {});
    expect(found.steps.reduce((sum, { allocMs }) => sum + (allocMs ?? 0), 0)).toBeLessThanOrEqual(found.cudaMs + 1);
    expect(found.steps.map(({ heldBytes }) => heldBytes)).toEqual(
      [...found.steps.map(({ heldBytes }) => heldBytes)].sort((a, b) => a - b),
    );
  });
});
