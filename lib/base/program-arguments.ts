/** Checks of what a program is started with, and of the options that several functions which start programs have. */

import { invalidArgument, invalidType, invalidValue, outOfRange } from './arguments.ts';

/** A program and its arguments, as an array: no shell reads them. */
export function checkCommand(value: unknown, name = 'command'): readonly [string, ...string[]] {
  if (!Array.isArray(value)) throw invalidType(name, 'an array: a program and its arguments', value);
  for (const [index, word] of (value as readonly unknown[]).entries()) {
    if (typeof word !== 'string') throw invalidType(`${name}[${index}]`, 'a text', word);
    if (word.includes('\0')) throw invalidValue(`${name}[${index}]`, 'a text without a null character', word);
  }
  const [file = '', ...args] = value as readonly string[];
  if (file === '') throw invalidArgument(`${name} is empty; expected a program and its arguments`);
  return [file, ...args];
}

/** Environment variables; undefined: those of this process. */
export function checkEnvironment(value: unknown): Readonly<Record<string, string | undefined>> | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidType('env', 'an object with variables', value);
  for (const [name, text] of Object.entries(value)) {
    if (text !== undefined && typeof text !== 'string') throw invalidType(`env.${name}`, 'a text', text);
    if (name === '' || /[=\0]/.test(name) || text?.includes('\0'))
      throw invalidValue('env', 'names without "=" and texts without a null character', name);
  }
  return value as Readonly<Record<string, string | undefined>>;
}

export function checkPath(name: string, value: unknown, expected = 'a path'): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw invalidType(name, expected, value);
  if (value === '' || value.includes('\0')) throw invalidValue(name, 'a path', value);
  return value;
}

/** The share of the memory that vLLM and SGLang are told to take. */
export function checkUtilization(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'number') throw invalidType('utilization', 'a number above 0 and up to 1', value);
  if (!(value > 0 && value <= 1)) throw outOfRange('utilization', 'above 0 and up to 1', value);
  return value;
}
