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
} from '../../base/arguments.ts';
import { LIMITS } from '../../base/limits.ts';
import type { ProbeOptions } from '../../types/index.ts';
import { checkFloor } from '../memory/floor.ts';

/** The keys that the options of every probe command have. */
export const PROBE_KEYS: Keys<ProbeOptions> = {
  device: true,
  floorBytes: true,
  acceptAFrozenMachine: true,
  journal: true,
  stepTimeoutMs: true,
  timeoutMs: true,
  signal: true,
  onEvent: true,
};

export interface CheckedProbeOptions {
  /** CUDA ordinal; null: the GPU that shares the host's memory, else the first. */
  device: number | null;
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
  onEvent: ProbeOptions['onEvent'];
}

/** @throws TypeError/RangeError that names the option. */
export function checkProbeOptions(options: ProbeOptions, defaultTimeoutMs: number | null): CheckedProbeOptions {
  const { device = null, acceptAFrozenMachine = false, journal, onEvent, signal } = options;
  if (device !== null) checkDevice(device);
  checkBoolean('acceptAFrozenMachine', acceptAFrozenMachine);
  checkSignal(signal);
  checkFunction('onEvent', onEvent);
  return {
    device,
    floor: options.floorBytes === undefined ? null : checkFloor('floorBytes', options.floorBytes, acceptAFrozenMachine),
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
    onEvent,
  };
}

function checkJournal(value: unknown): CheckedProbeOptions['journal'] {
  if (value === undefined) return null;
  if (value === false) return false;
  if (typeof value !== 'string') throw invalidType('journal', 'a path or false', value);
  if (value === '' || value.includes('\0')) throw invalidValue('journal', 'a path', value);
  return value;
}
