/** What the schema of machine files accepts, the simulator boots or refuses by the name of a field; and its files add up. */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { native, simulatorLibrary } from '../../../../lib/core/native/binding.ts';
import { flatten } from '../../../../lib/sim/machine.ts';
import { validateMachine } from '../../../../lib/sim/validate.ts';
import { mutatedMachines } from '../../../support/mutated-machines.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

// Hundreds of runs take seconds on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const state = join(temporaryFolder('machine-mutations'), 'machine');

it('a changed machine boots, or is refused by a name that is in it', () => {
  let booted = 0;
  fc.assert(
    fc.property(mutatedMachines(['gb10', 'h200', 'gb10-busy']), (document) => {
      let description: string;
      try {
        description = flatten(validateMachine(document, 'mine'));
      } catch (error) {
        expect(error).toMatchObject({ code: 'ERR_INVALID_ARG_VALUE' });
        return;
      }
      const failure = native().simBoot(simulatorLibrary(), description, state);
      rmSync(state, { force: true });
      if (failure === null) {
        booted++;
        return;
      }
      expect(failure).toMatchObject({ source: 'sim', name: 'EINVAL' });
      const [field = ''] = failure.message.split(' ');
      // Not a regular expression: a mutated name may be "$".
      const lines = description
        .split('\n')
        .filter((line) => line.startsWith(`${field} `) || line.startsWith(`${field}.`));
      expect(lines, failure.message).not.toEqual([]);
    }),
    { numRuns: 300 },
  );
  expect(booted).toBeGreaterThan(50);
});
