/** The options that all probe commands share. */

import { invalidType, invalidValue } from '../../base/arguments.ts';
import { LIMITS } from '../../base/limits.ts';
import {
  type CheckedOf,
  custom,
  inSection,
  integer,
  milliseconds,
  type OptionsOf,
  oneOf,
  signal,
  TypedMistake,
} from '../../base/options.ts';
import type { ProbeEvent } from '../../types/index.ts';
import { type FloorRows, floorRows } from '../memory/floor.ts';
import { KINDS } from '../memory/kinds.ts';

/** Options that sweep, layout and stress share. */
export interface ProbeOptions extends OptionsOf<typeof PROBE>, OptionsOf<FloorRows> {}

/**
 * Events: `writing` where dirty pages are written first, `started` after the checks of the machine and before the first
 * allocation, then what is done.
 */
export type CheckedProbeOptions = CheckedOf<typeof PROBE> & {
  onEvent: ((event: ProbeEvent) => void | Promise<void>) | undefined;
};

export const PROBE = inSection('Machine and safety', {
  /** CUDA ordinal. Default: the GPU that shares the host's memory, else 0. */
  device: integer({
    ...LIMITS.device,
    default: null,
    help: 'CUDA device',
    usually: 'the GPU that shares the host’s memory, else 0',
  }),
  ...floorRows(', and start even under pressure, fragmented or swapping'),
  /** Path of the journal; false: none. Default: a file under $XDG_STATE_HOME/umaprobe (~/.local/state/umaprobe). */
  journal: custom<string | false, null>(checkJournal, {
    default: null,
    placeholder: '<file|none>',
    help: 'Written to disk before each step',
    usually: 'a file under ~/.local/state/umaprobe',
    read: (word) => word !== 'none' && word,
  }),
  /** Time limit for the whole run, in milliseconds: 100 to 86400000. Default: none for sweeps, 600000 for stress. */
  timeoutMs: milliseconds({ ...LIMITS.timeoutMs, default: null, help: 'Time limit' }),
  /**
   * Time limit for one call that allocates, touches or frees, in milliseconds: 100 to 3600000. Default: 60000, and for
   * each 10^9 bytes 1000 more, or 10000 for kinds that the first touch provides page by page (`managed`, `system`).
   */
  stepTimeoutMs: milliseconds({
    min: 100,
    max: 3_600_000,
    default: null,
    help: 'Time limit for one GPU call',
    usually: '1m and more, by kind and size',
  }),
  /** Aborts the run; the report has everything measured until then. */
  signal,
});

/** The one kind that a command allocates. */
export const kind = oneOf(KINDS, {
  default: 'device',
  placeholder: '<kind>',
  help: `${KINDS.slice(0, -1).join(', ')} or ${KINDS.at(-1)}`,
  read(word, name, command) {
    if (word !== 'all' && !word.includes(',')) return undefined;
    throw new TypedMistake(`${name} "${word}": ${command} takes one kind; umaprobe sweep takes several.`);
  },
});

function checkJournal(name: string, value: unknown): string | false {
  if (value === false) return false;
  if (typeof value !== 'string') throw invalidType(name, 'a path or false', value);
  if (value === '' || value.includes('\0')) throw invalidValue(name, 'a path', value);
  return value;
}
