/** A message that programs print about memory, as a row of a table, and how its numbers are read. */

import { capitalized, formatBytes, GB, GiB, KiB, MiB, TiB } from '../../../base/format.ts';
import type { ErrorNumber, ErrorRemedy, ErrorVerdict } from '../../../types/index.ts';
import { conditionText, type ExplainMachine, fitText, roomText } from '../machine.ts';

/** Numbers by their names. */
export type Numbers = ReadonlyMap<string, ErrorNumber>;

/** Meaning of the numbers on this machine now; null: none. `count`: how often the message occurs. */
export type Judge = (numbers: Numbers, machine: ExplainMachine, count: number) => string | null;

export type Unit = 'B' | 'kB' | 'MB' | 'MiB' | 'GB' | 'GiB';

export interface Message {
  /** Several rows may share a code: other wordings of the same message. */
  code: string;
  program: string;
  /** Literals, one of which every occurrence has unbroken: of 8 bytes or more, and rare in other logs. */
  anchors: readonly string[];
  /** Applied to a passage (passage.ts): one line, single spaces. Named groups are numbers. Linear: messages.test.ts. */
  pattern: RegExp;
  /** Further numbers, looked for near the pattern: up to `before` characters before it and `after` behind it. */
  fields?: Readonly<Record<string, RegExp>>;
  before?: number;
  /** Default 500. */
  after?: number;
  /** Lines of the same error that may follow, and belong to it. */
  followUps?: RegExp;
  /** Text that has to be, or must not be, near the pattern, or inside it. */
  near?: RegExp;
  notNear?: RegExp;
  /** Text that must not be in the 32 KiB before it: an error of which this one is a consequence. */
  notBefore?: RegExp;
  /** Codes of messages that only repeat this one, when they stand beside it. */
  absorbs?: readonly string[];
  /** Units of numbers that the message prints without one. */
  units?: Readonly<Record<string, Unit>>;
  /** The program divides by 2^30 and prints "GB". */
  binary?: boolean;
  verdict: ErrorVerdict;
  meaning: string | ((numbers: Numbers, count: number) => string);
  now?: Judge;
  remedies: readonly ErrorRemedy[] | ((numbers: Numbers, machine: ExplainMachine | null) => ErrorRemedy[]);
}

/** Placeholders of the patterns. */
const PARTS: Readonly<Record<string, string>> = {
  size: String.raw`\d[\d.,]{0,20} ?(?:[KMGT]i?B?|bytes|B)(?![a-z0-9])`,
  num: String.raw`-?\d[\d.,]{0,20}(?<![.,])`,
  int: String.raw`\d{1,18}`,
  hex: '0x[0-9a-f]{1,16}',
};

/** A pattern from literal words: spaces as they are, `{size}`, `{num}`, `{int}` and `{hex}` for numbers. */
export function words(strings: TemplateStringsArray): RegExp {
  const source = strings.raw.join('').replace(/\{(size|num|int|hex)\}/g, (_, part: string) => `(?:${PARTS[part]})`);
  return new RegExp(source, 'gi');
}

const UNITS: Readonly<Record<string, number>> = {
  B: 1,
  bytes: 1,
  K: 1e3,
  KB: 1e3,
  KiB,
  M: 1e6,
  MB: 1e6,
  MiB,
  G: GB,
  GB,
  GiB,
  T: 1e12,
  TB: 1e12,
  TiB,
};

const BINARY: Readonly<Record<string, number>> = { KB: KiB, MB: MiB, GB: GiB, TB: TiB };

/** "22.76 GiB", "24,576 MiB", "0 bytes" → bytes; null: not a size. */
function bytesOf(number: number, unit: string, binary: boolean): number | null {
  const upper = unit.charAt(0).toUpperCase() + unit.slice(1);
  const name = unit.toLowerCase() === 'bytes' ? 'bytes' : upper.replace(/b$/, 'B');
  const factor = (binary ? BINARY[name.toUpperCase()] : undefined) ?? UNITS[name];
  return factor === undefined ? null : Math.round(number * factor);
}

/** A number as a message has it. */
export function readNumber(name: string, text: string, { units = {}, binary = false }: Message): ErrorNumber {
  const match = /^(-?[\d.,]+) ?([a-z]+)?$/i.exec(text);
  const unit = match?.[2] ?? units[name];
  const number = match === null ? Number.NaN : Number((match[1] as string).replaceAll(',', ''));
  if (!Number.isFinite(number)) return { name, text, bytes: null, value: null };
  const bytes = unit === undefined ? null : bytesOf(number, unit, binary);
  const shown = unit !== undefined && match?.[2] === undefined ? `${text} ${unit}` : text;
  return { name, text: shown, bytes, value: bytes === null ? number : null };
}

export function advice(text: string, command: string | null = null, needsRoot = false): ErrorRemedy {
  return { text, command, needsRoot };
}

/** The memory that can be allocated here now. */
export const room: Judge = (_, machine) => `${capitalized(roomText(machine))}.`;

/** The same, with the kernel's signs of shortage. */
export const roomAndCondition: Judge = (_, machine) => `${capitalized(roomText(machine))}; ${conditionText(machine)}.`;

/** Says whether the first of the named sizes that the message has fits now: "2.00 GiB were asked for; …". */
export function fits(what: string, ...names: string[]): Judge {
  return (numbers, machine) => {
    const bytes = names.map((name) => numbers.get(name)?.bytes).find((size) => typeof size === 'number');
    return bytes === undefined ? null : fitText(`${formatBytes(bytes)} ${what}`, bytes, machine);
  };
}

/** Remedies of several messages. */
export const WHO_KILLED_IT = advice('see who killed it', 'sudo dmesg -T | grep -iE "killed process|oom-kill"', true);
export const SMALLER_QUANTISATION = advice('or use a smaller quantisation of the model');
