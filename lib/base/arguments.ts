import { invalidType, outOfRange } from './errors.ts';

/** A whole number of milliseconds within the limits; returns it. */
export function checkMilliseconds(name: string, value: unknown, min = 1, max = 600_000): number {
  if (typeof value !== 'number') throw invalidType(name, 'a number of milliseconds', value);
  if (!(value >= min && value <= max)) throw outOfRange(name, `${min} to ${max} milliseconds`, value);
  return value;
}

/** A CUDA ordinal. */
export function checkDevice(value: unknown): asserts value is number {
  if (typeof value !== 'number') throw invalidType('device', 'a device number', value);
  if (!Number.isInteger(value) || value < 0 || value > 255)
    throw outOfRange('device', 'a whole number from 0 to 255', value);
}
