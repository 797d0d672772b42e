/** The reports of `explain()` and `explainError()`. */

import type { Finding, Level, NotJudged } from './judgement.ts';
import type { Integer, Natural, OfMachine, Positive, Timestamp } from './scalars.ts';

/** A text: whole, or in pieces that may end anywhere, such as a stream. */
export type ErrorText = string | Uint8Array | AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>;

/** Meanings of a recognised message. */
export type ErrorVerdict =
  /** Memory of the GPU or of the machine ran out. */
  | 'shortage'
  /** A limit below the machine's memory was reached: a cgroup, /dev/shm, a locked-memory limit, a threshold of a program. */
  | 'limit'
  /** The program counted wrongly: enough memory may have been there. */
  | 'misread'
  /** The program carries on; nothing else follows from it. */
  | 'harmless'
  /** It follows from an earlier error, which says more. */
  | 'consequence'
  /** The message alone proves nothing. */
  | 'unclear';

/** A number that a message names. */
export interface ErrorNumber {
  /** "free", "needed", "maxModelLen": the same for the same quantity of all messages. */
  name: string;
  /** The message's own words, with its unit: "22.76 GiB", "196608". */
  text: string;
  /** Size in bytes, as given in the message; null: it is not a size. */
  bytes: Integer | null;
  /**
   * The number itself as given in the message, if it is not a size: a count, a share, a device's index; null: a size or
   * a word.
   */
  value: number | null;
}

/** A step that helps. */
export interface ErrorRemedy {
  text: string;
  /** Text for a shell, or flags for the program's command line; null: none. */
  command: string | null;
  needsRoot: boolean;
}

/** Occurrences of a message that are counted: of more the rest is not read. */
export const MOST_COUNTED = 10_000;

/** A message that was recognised, with its numbers, its meaning and the remedies. */
export interface ExplainedError {
  /**
   * Stable: scripts may rely on it. docs/explain.md lists all.
   * @pattern ^[a-z0-9-]+$
   */
  code: string;
  /** "vLLM", "llama.cpp", "Linux": the program that prints it. */
  program: string;
  verdict: ErrorVerdict;
  /**
   * Number of times that it occurs, counted in the text; `MOST_COUNTED` stands for that many or more.
   * @asType integer
   * @minimum 1
   * @maximum 10000
   */
  count: number;
  /** Line of the first and of the last occurrence that was counted, from 1. */
  firstLine: Positive;
  /** Line of the last one that was counted. */
  lastLine: Positive;
  /** The first occurrence on one line, without timestamps and colours, cut at 400 characters. */
  text: string;
  /** The numbers of the first occurrence. */
  numbers: ErrorNumber[];
  /** The message in plain words. */
  meaning: string;
  /** The same numbers compared with this machine now; null: there is nothing to compare. */
  now: string | null;
  remedies: ErrorRemedy[];
}

/** Messages about memory in a text. */
export interface ErrorReport {
  schema: 'umaprobe/explain-error/1';
  at: Timestamp;
  /** Name of the simulated machine that the numbers are compared with; null on real hardware. */
  simulated: string | null;
  /** Size of the text in bytes and lines, as counted while it was read. */
  input: { bytes: Natural; lines: Natural };
  /** Messages in the order of their first occurrence. Empty: no known message; nothing is guessed. */
  errors: ExplainedError[];
  /**
   * The machine that the numbers are compared with, in bytes by its snapshot (`total` is MemTotal or the GPU's memory);
   * null: it was not read.
   */
  machine: {
    total: Natural;
    /** Bytes that can be allocated on the GPU (without one: by programs) now, and after reclaim; null: unknown. */
    immediate: Integer | null;
    afterReclaim: Integer | null;
    unified: boolean;
  } | null;
}

/** Reasons for memory that is gone, or looks gone. */
export interface ExplainReport extends OfMachine {
  schema: 'umaprobe/explain/1';
  /** ISO 8601, UTC: of the reading. */
  at: Timestamp;
  /**
   * Amount that can be loaded, in the words of a snapshot: "103.88 GiB (111.54 GB) can be loaded on the GPU".
   * @minLength 1
   */
  answer: string;
  level: Level;
  /** The most urgent first, as in the snapshot's judgement. Empty: nothing is wrong with the memory, as far as it is known. */
  findings: Finding[];
  notJudged: NotJudged[];
}
