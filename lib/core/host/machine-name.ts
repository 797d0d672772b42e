/** Tells on which machine this process is. */

import { hostname } from 'node:os';
import { toUmaError } from '../../base/errors.ts';
import { isFailure } from '../../base/facts.ts';
import { native } from '../native/binding.ts';

/** Name of the simulated machine; null: this is a real one. Counts as a reading. */
export function simulatedMachine(): string | null {
  const name = native().simulatedMachine();
  if (isFailure(name)) throw toUmaError(name);
  return name;
}

/** The host name; of a simulated machine its name. */
export function hostName(): string {
  return simulatedMachine() ?? hostname();
}
