/**
 * Every shipped machine with every single fault: never OK where something is wrong, never worse where nothing is. The
 * sentences of two of them are in test/sim/core/library/golden. Where UMAPROBE_TEST_MACHINES is set, one machine of each memory
 * model and state of the driver stands for the others.
 */
import { describe, expect, it } from 'vitest';
import { shippedNames } from '../../lib/sim/load.ts';
import { loadMachine, type Machine } from '../../lib/sim.ts';
import { complaints, diagnose, FAULTS, hangsByItself, mapCells } from '../support/fault-matrix.ts';

/** What decides the memory model, and what is wrong with the driver or a device by itself. */
function kindOf({ devices, events, faults }: Machine): string {
  const models = devices.map(({ attributes }) => [
    attributes.integrated,
    attributes.pageableMemoryAccessUsesHostPageTables,
  ]);
  const lost = events.filter(({ what }) => what === 'lost');
  const wrong = Object.entries(faults).filter(([, entries]) => entries.length > 0);
  return JSON.stringify([models, wrong, lost]);
}

/** Of each kind the machine with the shortest name, a GB10 first: gb10 stands for a GB10 in other circumstances. */
function chosen(): string[] {
  const rank = (name: string) => (name.startsWith('gb10') ? 0 : 100) + name.length;
  const names = [...shippedNames()].sort((a, b) => rank(a) - rank(b));
  if ((process.env.UMAPROBE_TEST_MACHINES ?? '') === '') return names;
  const kinds = new Map(names.toReversed().map((name) => [kindOf(loadMachine(name)), name]));
  return [...kinds.values()];
}

describe('every single fault', () => {
  it.each(chosen())('on %s', async (name) => {
    const machine = loadMachine(name);
    const alone = hangsByItself(machine);
    const healthy = await diagnose(machine, { hangs: alone });
    const problems = await mapCells(FAULTS, async (fault) => {
      const broken = await diagnose(fault.apply(machine), { hangs: alone || fault.hangs === true });
      return complaints(fault, broken, healthy).map(
        (problem) => `${fault.name}: ${problem}: ${broken.snapshot.judgement.because}`,
      );
    });
    expect(problems.flat()).toEqual([]);
  });
});
