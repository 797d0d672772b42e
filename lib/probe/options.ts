/** The options that all probe commands share, checked and with their defaults. */

import {
  checkBoolean,
  checkDevice,
  checkFunction,
  checkMilliseconds,
  checkSignal,
  invalidType,
  invalidValue,
  type Keys,
} from '../base/arguments.ts';
import { LIMITS } from '../base/limits.ts';
import { checkFloor } from '../memory/floor.ts';
import type { ProbeOptions } from '../types/index.ts';

/** The keys that the options of every probe command have. */
export const PROBE_KEYS: Keys<ProbeOptions> = {
  device: true,
  floor: true,
  acceptAFrozenMachine: true,
  journal: true,
  stepTimeoutMs: true,
  timeoutMs: true,
  signal: true,
  onStart: true,
};

export interface CheckedProbeOptions {
  device: number;
  /** null: the machine's default. */
  floor: number | null;
  acceptAFrozenMachine: boolean;
  /** false: no journal. null: the default path. */
  journal: string | false | null;
  /** null: by kind and size. */
  stepTimeoutMs: number | null;
  /** null: no limit. */
  timeoutMs: number | null;
  signal: AbortSignal | null;
  onStart: ProbeOptions['onStart'];
}

/** @throws TypeError/RangeError that names the option. */
export function checkProbeOptions(options: ProbeOptions, defaultTimeoutMs: number | null): CheckedProbeOptions {
  const { device = 0, acceptAFrozenMachine = false, journal, onStart, signal } = options;
  checkDevice(device);
  checkBoolean('acceptAFrozenMachine', acceptAFrozenMachine);
  checkSignal(signal);
  checkFunction('onStart', onStart);
  return {
    device,
    floor: options.floor === undefined ? null : checkFloor('floor', options.floor, acceptAFrozenMachine),
    acceptAFrozenMachine,
    journal: checkJournal(journal),
    stepTimeoutMs:
      options.stepTimeoutMs === undefined
        ? null
        : checkMilliseconds('stepTimeoutMs', options.stepTimeoutMs, LIMITS.stepTimeoutMs),
    timeoutMs:
      options.timeoutMs === undefined
        ? defaultTimeoutMs
        : checkMilliseconds('timeoutMs', options.timeoutMs, LIMITS.timeoutMs),
    signal: signal ?? null,
    onStart,
  };
}

function checkJournal(value: unknown): CheckedProbeOptions['journal'] {
  if (value === undefined) return null;
  if (value === false) return false;
  if (typeof value !== 'string') throw invalidType('journal', 'a path or false', value);
  if (value === '' || value.includes('\0')) throw invalidValue('journal', 'a path', value);
  return value;
}
