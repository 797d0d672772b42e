/** Argument checks: each returns the checked value, or throws an error that names the argument. */

import { jsonOf } from './errors.ts';
import { formatBoth } from './format.ts';
import { LIMITS, type Range } from './limits.ts';
import { didYouMean } from './nearest.ts';

/** The value for an error message: one line, strings in quotes and cut at 60 characters. */
function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value);
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'bigint' ? `${value}n` : String(value);
}

function withCode<E extends Error>(error: E, code: string): E {
  return Object.defineProperty(Object.assign(error, { code }), 'toJSON', { value: () => jsonOf(error) });
}

/** A value of the wrong type: `intervalMs is "5"; expected a number`. */
export function invalidType(name: string, expected: string, value: unknown): TypeError {
  return withCode(new TypeError(`${name} is ${shown(value)}; expected ${expected}`), 'ERR_INVALID_ARG_TYPE');
}

/** A value of the right type that is not among the allowed values. */
export function invalidValue(name: string, expected: string, value: unknown): TypeError {
  return invalidArgument(`${name} is ${shown(value)}; expected ${expected}`);
}

/** Contradicting arguments or an invalid document, with the caller's message. */
export function invalidArgument(message: string): TypeError {
  return withCode(new TypeError(message), 'ERR_INVALID_ARG_VALUE');
}

/** A number outside its limits. */
export function outOfRange(name: string, expected: string, value: unknown): RangeError {
  return withCode(new RangeError(`${name} is ${shown(value)}; expected ${expected}`), 'ERR_OUT_OF_RANGE');
}

/** A number of bytes outside its limits, as a size: sixteen digits cannot be read beside one. */
export function sizeOutOfRange(name: string, expected: string, bytes: number): RangeError {
  return withCode(new RangeError(`${name} is ${formatBoth(bytes)}; expected ${expected}`), 'ERR_OUT_OF_RANGE');
}

/** Every key of an options type, or of all types of a union. The compiler refuses a table that lacks one, or that has another. */
export type Keys<Options> = Readonly<Record<Options extends unknown ? keyof Options : never, true>>;

/**
 * An object with known keys only: a misspelt limit must not be ignored.
 *
 * @param owner who takes the keys, for the message: "stress()", "range".
 */
export function checkKeys<Options extends object>(owner: string, value: unknown, keys: Keys<Options>): void {
  const known = Object.keys(keys);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const keyList = known.join(', ');
    if (!owner.endsWith('()')) throw invalidType(owner, `an object with ${keyList}`, value);
    const message = `${owner} takes an object with ${keyList}; it was given ${shown(value)}`;
    throw withCode(new TypeError(message), 'ERR_INVALID_ARG_TYPE');
  }
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(keys, key));
  if (unknown === undefined) return;
  const hint = didYouMean(unknown, known) || ` It takes ${known.join(', ')}.`;
  throw invalidArgument(`${owner} has no option ${shown(unknown)}.${hint}`);
}

/** A number of milliseconds within the limits. */
export function checkMilliseconds(name: string, value: unknown, range: Range = LIMITS.deadlineMs): number {
  const { min, max = Number.MAX_SAFE_INTEGER } = range;
  if (typeof value !== 'number') throw invalidType(name, 'a number of milliseconds', value);
  if (!(value >= min && value <= max)) throw outOfRange(name, `${min} to ${max} milliseconds`, value);
  return value;
}

/** A whole number of bytes within the limits. */
export function checkBytes(name: string, value: unknown, range: Range): number {
  const { min, max = Number.MAX_SAFE_INTEGER } = range;
  if (typeof value !== 'number') throw invalidType(name, 'a number of bytes', value);
  if (!Number.isInteger(value) || value < min || value > max)
    throw outOfRange(name, `${min} to ${max === Number.MAX_SAFE_INTEGER ? '2^53 − 1' : max} whole bytes`, value);
  return value;
}

/** A whole number within the limits. */
export function checkInteger(name: string, value: unknown, range: Range): number {
  const { min, max = Number.MAX_SAFE_INTEGER } = range;
  const expected =
    max === Number.MAX_SAFE_INTEGER ? `a whole number, ${min} or more` : `a whole number from ${min} to ${max}`;
  if (typeof value !== 'number') throw invalidType(name, expected, value);
  if (!Number.isInteger(value) || value < min || value > max) throw outOfRange(name, expected, value);
  return value;
}

/** A text whose number of characters is within the limits. */
export function checkText(name: string, value: unknown, { min, max }: Required<Range>): string {
  if (typeof value !== 'string') throw invalidType(name, 'a text', value);
  if (value.length < min || value.length > max)
    throw outOfRange(`length of ${name}`, `${min} to ${max} characters`, value.length);
  return value;
}

/** A CUDA ordinal, 0 to 255. */
export function checkDevice(value: unknown): asserts value is number {
  if (typeof value !== 'number') throw invalidType('device', 'a device number', value);
  checkInteger('device', value, LIMITS.device);
}

/** `true` or `false`; false where the option is absent. */
export function checkBoolean(name: string, value: unknown): boolean {
  if (value !== undefined && typeof value !== 'boolean') throw invalidType(name, 'true or false', value);
  return value ?? false;
}

/** An AbortSignal, or none. */
export function checkSignal(value: unknown): AbortSignal | undefined {
  if (value !== undefined && !(value instanceof AbortSignal)) throw invalidType('signal', 'an AbortSignal', value);
  return value;
}

/** A function, or none. */
export function checkFunction(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function') throw invalidType(name, 'a function', value);
}

/** One of the names in a list. */
export function checkChoice<T extends string>(name: string, choices: readonly T[], value: unknown): T {
  const choice = choices.find((candidate) => candidate === value);
  if (choice === undefined) throw invalidValue(name, `one of ${choices.join(', ')}`, value);
  return choice;
}
