/** Finds the messages of the table in a passage. */

import type { ErrorNumber } from '../../types/index.ts';
import { type Message, readNumber } from './messages/message.ts';

export interface Match {
  message: Message;
  /** Place of the message in the passage, with the lines that belong to it. */
  start: number;
  end: number;
  numbers: ErrorNumber[];
}

/** Characters behind a message in which its other numbers are looked for. */
const REACH = 500;
/** Name that Python prints before a message. */
const EXCEPTION_NAME = /[\w.]{1,80}: ?$/;

/** Characters within which one message absorbs another. */
const BESIDE = 800;

/**
 * The messages in a text, in its order. The first in the table of two that claim the same words wins.
 *
 * @param messages those that may be in it, in the order of the table.
 * @param before text that stood before the passage, for messages that may be a consequence of it.
 */
export function recognise(text: string, messages: readonly Message[], before: () => string): Match[] {
  const matches: Match[] = [];
  for (const message of messages) {
    // Matches of one message do not overlap: a passage may hold hundreds of them.
    const others = matches.length;
    for (const match of occurrences(text, message, before))
      if (!matches.slice(0, others).some((other) => overlap(other, match))) matches.push(match);
  }
  const absorbing = matches.filter(({ message }) => message.absorbs !== undefined);
  return matches.filter((match) => !absorbing.some((other) => absorbs(other, match))).sort((a, b) => a.start - b.start);
}

function* occurrences(text: string, message: Message, before: () => string): Generator<Match> {
  const { pattern, fields = {}, near, notNear, notBefore, followUps, after = REACH } = message;
  let match = following(text, pattern, 0);
  while (match !== null) {
    const start = match.index;
    const core = start + match[0].length;
    let next = following(text, pattern, Math.max(core, start + 1));
    // The next occurrence may itself be a line that follows from this one.
    const reach = next === null ? text.length : next.index + next[0].length;
    const end = followUps === undefined ? core : extended(text, core, reach, followUps);
    while (next !== null && next.index < end) next = following(text, pattern, next.index + next[0].length);
    // Beyond the next occurrence the numbers are the other one's.
    const limit = Math.min(next?.index ?? text.length, end + after);
    const around = text.slice(Math.max(0, start - (message.before ?? 0)), limit);
    const fits =
      (near === undefined || near.test(around)) &&
      (notNear === undefined || !notNear.test(around)) &&
      (notBefore === undefined || !notBefore.test(before() + text.slice(0, start).replace(EXCEPTION_NAME, '')));
    if (fits) yield { message, start, end, numbers: numbersOf(match, around, fields, message) };
    match = next;
  }
}

function following(text: string, pattern: RegExp, from: number): RegExpExecArray | null {
  pattern.lastIndex = from;
  return pattern.exec(text);
}

/** The end of a message with the lines that belong to it. */
function extended(text: string, end: number, limit: number, followUps: RegExp): number {
  for (;;) {
    const next = followUps.exec(text.slice(end, Math.min(limit, end + REACH)));
    if (next === null || next[0] === '') return end;
    end += next.index + next[0].length;
  }
}

function numbersOf(
  match: RegExpExecArray,
  around: string,
  fields: Readonly<Record<string, RegExp>>,
  message: Message,
): ErrorNumber[] {
  const named = Object.entries(match.groups ?? {}) as [string, string | undefined][];
  const found = Object.entries(fields).map(
    ([name, field]) =>
      [
        name,
        field
          .exec(around)
          ?.slice(1)
          .find((group) => group !== undefined),
      ] as const,
  );
  return [...named, ...found]
    .filter((entry): entry is [string, string] => entry[1] !== undefined)
    .map(([name, text]) => readNumber(name, text.trim(), message));
}

function overlap(a: Match, b: Match): boolean {
  return a.start < b.end && b.start < a.end;
}

function absorbs(match: Match, other: Match): boolean {
  if (match.message.absorbs?.includes(other.message.code) !== true) return false;
  // The later of two with the same code repeats the earlier.
  if (match.message.code === other.message.code && match.start >= other.start) return false;
  return other.start < match.end + BESIDE && match.start < other.end + BESIDE;
}
