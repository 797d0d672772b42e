/** The options that all probe commands share, checked and with their defaults. */

import {
  checkBoolean,
  checkBytes,
  checkDevice,
  checkFunction,
  checkMilliseconds,
  checkSignal,
  invalidType,
  invalidValue,
  outOfRange,
} from '../base/arguments.ts';
import { MIN_FLOOR } from '../memory/floor.ts';
import type { ProbeOptions } from '../types/index.ts';

export interface CheckedProbeOptions {
  device: number;
  /** null: the machine's default. */
  floor: number | null;
  acceptAFrozenMachine: boolean;
  /** false: no journal. null: the default path. */
  journal: string | false | null;
  stepDeadlineMs: number;
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

function checkFloor(value: unknown, accept: boolean): number {
  const floor = checkBytes('floor', value, 0);
  if (floor < MIN_FLOOR && !accept)
    throw outOfRange(
      'floor',
      `at least ${MIN_FLOOR} bytes (2 GiB), because a host without memory freezes; acceptAFrozenMachine takes less`,
      floor,
    );
  return floor;
}

function checkJournal(value: unknown): CheckedProbeOptions['journal'] {
  if (value === undefined) return null;
  if (value === false) return false;
  if (typeof value !== 'string') throw invalidType('journal', 'a path or false', value);
  if (value === '' || value.includes('\0')) throw invalidValue('journal', 'a path', value);
  return value;
}
