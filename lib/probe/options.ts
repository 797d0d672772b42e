/** The options that every probe has, checked and filled in. */

import { checkDevice, checkMilliseconds } from '../base/arguments.ts';
import { invalidType, invalidValue, outOfRange } from '../base/errors.ts';
import type { ProbeOptions } from '../types/index.ts';

export interface CheckedOptions {
  device: number;
  /** null: the default for the machine. */
  floor: number | null;
  acceptAFrozenMachine: boolean;
  /** false: none. null: the default place. */
  journal: string | false | null;
  stepDeadlineMs: number;
  /** null: no limit. */
  timeoutMs: number | null;
  signal: AbortSignal | null;
  onStart: ProbeOptions['onStart'];
}

/** The least memory that a host keeps unless its owner accepts that it may freeze. */
export const LEAST_FLOOR = 2 * 2 ** 30;

/** @throws TypeError/RangeError that names the option. */
export function checkProbeOptions(options: ProbeOptions, defaultTimeoutMs: number | null): CheckedOptions {
  const { device = 0, acceptAFrozenMachine = false, journal, onStart, signal } = options;
  checkDevice(device);
  if (typeof acceptAFrozenMachine !== 'boolean')
    throw invalidType('acceptAFrozenMachine', 'true or false', acceptAFrozenMachine);
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw invalidType('signal', 'an AbortSignal', signal);
  if (onStart !== undefined && typeof onStart !== 'function') throw invalidType('onStart', 'a function', onStart);
  return {
    device,
    floor: options.floor === undefined ? null : checkFloor(options.floor, acceptAFrozenMachine),
    acceptAFrozenMachine,
    journal: checkJournal(journal),
    stepDeadlineMs: checkMilliseconds('stepDeadlineMs', options.stepDeadlineMs ?? 60_000, 100, 600_000),
    timeoutMs:
      options.timeoutMs === undefined
        ? defaultTimeoutMs
        : checkMilliseconds('timeoutMs', options.timeoutMs, 100, 86_400_000),
    signal: signal ?? null,
    onStart,
  };
}

/** A whole number of bytes within the limits; returns it. */
export function checkBytes(name: string, value: unknown, min: number, max = Number.MAX_SAFE_INTEGER): number {
  if (typeof value !== 'number') throw invalidType(name, 'a number of bytes', value);
  if (!Number.isInteger(value) || value < min || value > max)
    throw outOfRange(name, `a whole number of bytes, ${min} to ${max}`, value);
  return value;
}

function checkFloor(value: unknown, accept: boolean): number {
  const floor = checkBytes('floor', value, 0);
  if (floor < LEAST_FLOOR && !accept)
    throw outOfRange(
      'floor',
      `at least ${LEAST_FLOOR} bytes (2 GiB), because a host without memory freezes; acceptAFrozenMachine takes less`,
      floor,
    );
  return floor;
}

function checkJournal(value: unknown): CheckedOptions['journal'] {
  if (value === undefined) return null;
  if (value === false) return false;
  if (typeof value !== 'string') throw invalidType('journal', 'a path or false', value);
  if (value === '' || value.includes('\0')) throw invalidValue('journal', 'a path', value);
  return value;
}
