/** Chooses the file in which a run keeps its journal. */

import { isFailure } from '../../base/facts.ts';
import { defaultJournal } from '../journal/index.ts';
import { native } from '../native/binding.ts';
import type { ProbeOptions } from './options.ts';

/** The journal that a run with this option keeps on the machine of this process; null: none. */
export function journalPath(option: ProbeOptions['journal']): string | null {
  if (option === false) return null;
  if (option !== undefined) return option;
  const simulated = native().simulatedMachine();
  return defaultJournal(isFailure(simulated) ? null : simulated);
}
