/**
 * The position of a mistake in a JSON text, found with jsonc-parser. Messages of JSON.parse have a position only
 * sometimes and differ between versions of V8; the author of a machine file always needs line and column.
 */

import { createRequire } from 'node:module';

export interface JsonMistake {
  /** Line and column count from 1. */
  line: number;
  column: number;
  /** "expected a value, found }". */
  problem: string;
}

/** Error name of jsonc-parser → the expected text. */
const EXPECTED: Readonly<Record<string, string>> = {
  PropertyNameExpected: 'a field name in double quotes',
  ColonExpected: '":"',
  CommaExpected: '","',
  CloseBraceExpected: '"}"',
  CloseBracketExpected: '"]"',
  EndOfFileExpected: 'the end of the file',
  UnexpectedEndOfString: 'a string that ends on its line',
  UnexpectedEndOfNumber: 'a digit',
  InvalidUnicode: 'four hexadecimal digits',
  InvalidEscapeCharacter: 'a string with valid escapes',
  InvalidCharacter: 'a string without control characters',
  InvalidCommentToken: 'no comment',
};

/** The first mistake in a text that JSON.parse refused; null when the parser finds none. */
export function findJsonMistake(text: string): JsonMistake | null {
  const require = createRequire(import.meta.url);
  const { parse, printParseErrorCode } = require('jsonc-parser') as typeof import('jsonc-parser');
  const errors: import('jsonc-parser').ParseError[] = [];
  try {
    parse(text, errors, { disallowComments: true });
  } catch (error) {
    if (error instanceof RangeError) return { line: 1, column: 1, problem: 'expected less nesting' };
    throw error;
  }
  const [first, second] = errors;
  if (first === undefined) return null;
  // InvalidSymbol is followed by an error with the expected text.
  const isSymbol = printParseErrorCode(first.error) === 'InvalidSymbol' && second !== undefined;
  const expected = EXPECTED[printParseErrorCode((isSymbol ? second : first).error)] ?? 'a value';
  const before = text.slice(0, first.offset).split('\n');
  const found = text[first.offset];
  return {
    line: before.length,
    column: (before.at(-1)?.length ?? 0) + 1,
    problem: `expected ${expected}, found ${found === undefined ? 'the end of the file' : JSON.stringify(found)}`,
  };
}
