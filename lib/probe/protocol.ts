/** What parent and child say to each other: one JSON document a line. */

import type { Fact, Failure } from '../base/errors.ts';
import type { BeginRecord } from '../journal/records.ts';
import type { NativeAllocator, NativeGuard, NativeGuardOptions } from '../native/contract.ts';
import type { RunLimits } from './context.ts';
import type { ProbeCommand } from './spec.ts';

/** Descriptors of the child beyond the usual three. */
export const JOURNAL_FD = 3;
export const WORDS_FD = 4;

export const HEARTBEAT_MS = 250;

/** The first line on the child's standard input; later ones are `Order`s. Its end means that the parent is gone. */
export interface ChildRequest {
  command: ProbeCommand;
  limits: RunLimits;
  guard: NativeGuardOptions;
  /** Whose records the child continues on JOURNAL_FD; null: no journal is kept. */
  journal: { path: string; run: Pick<BeginRecord, 'run' | 'bootId'> } | null;
  /** The command's own. */
  request: unknown;
}

/** To come to an end: the loop returns, with what it has. */
export type StopRequest = 'aborted' | 'timeout';

/**
 * An error as plain fields. With `code` and `failure` it is an UmaError; with `failure` alone the addon's, of which the
 * parent makes one.
 */
export interface SerializedError {
  message: string;
  code: string | null;
  failure: Failure | null;
  stack: string | null;
}

/** What the child says on standard output. */
export type ChildMessage =
  | { type: 'heartbeat' }
  | { type: 'open'; allocator: Fact<NativeAllocator> }
  | { type: 'event'; event: unknown }
  | { type: 'done'; result: unknown; guard: NativeGuard }
  | { type: 'error'; error: SerializedError };

/** Calls `take` with each complete line of a stream of text. */
export function lines(take: (line: string) => void): (text: string) => void {
  let rest = '';
  return (text) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) if (part !== '') take(part);
  };
}

/** A line as its document; null: it is none, as when a library of the driver prints something of its own. */
export function parseLine<T>(line: string): T | null {
  try {
    return JSON.parse(line) as T;
  } catch {
    return null;
  }
}
