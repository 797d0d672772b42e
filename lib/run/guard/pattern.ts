/**
 * Regular expressions of users over the output of programs, in the syntax of RE2: the time is linear in the line, and no
 * expression explodes, as those of JavaScript do.
 */

import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import { invalidArgument } from '../../base/arguments.ts';

/** True if a line matches anywhere. */
export type LinePattern = (line: string) => boolean;

/** The first group of the first match in a line; null: no match, or no such group. */
export type LineCapture = (line: string) => string | null;

/** @throws TypeError (`ERR_INVALID_ARG_VALUE`) with the mistake and its place. */
export function linePattern(name: string, text: string): LinePattern {
  const compiled = compile(name, text);
  return (line) => compiled.matcher(line).find();
}

/** @throws TypeError (`ERR_INVALID_ARG_VALUE`): also for an expression without a group. */
export function lineCapture(name: string, text: string): LineCapture {
  const compiled = compile(name, text);
  if (compiled.groupCount() === 0)
    throw invalidArgument(
      `${name} ${JSON.stringify(text)} has no group, such as "([0-9.]+) tokens/s": which part is the number?`,
    );
  return (line) => {
    const matcher = compiled.matcher(line);
    return matcher.find() ? matcher.group(1) : null;
  };
}

function compile(name: string, text: string): RE2JS {
  const { RE2JS } = createRequire(import.meta.url)('re2js') as typeof import('re2js');
  try {
    return RE2JS.compile(text);
  } catch (error) {
    const message = (error as Error).message.replace(/^error parsing regexp: /, '');
    throw invalidArgument(`${name} ${JSON.stringify(text)} is no regular expression of RE2: ${message}`);
  }
}
