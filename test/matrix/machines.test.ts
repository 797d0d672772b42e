/**
 * Every shipped machine with every single fault: never OK where something is wrong, never worse where nothing is. The
 * sentences of two of them are in test/sim/core/library/golden.
 */
import { describe, expect, it } from 'vitest';
import { shippedNames } from '../../lib/sim/load.ts';
import { loadMachine } from '../../lib/sim.ts';
import { complaints, diagnose, FAULTS, hangsByItself, mapCells } from '../support/fault-matrix.ts';

describe('every single fault', () => {
  it.each(shippedNames())('on %s', async (name) => {
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
