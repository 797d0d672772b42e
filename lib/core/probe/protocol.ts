/** Messages between parent and child: one JSON document per line. */

import type { Fact } from '../../base/errors.ts';
import type { SerializedError } from '../../base/serialized-error.ts';
import type { BeginRecord } from '../journal/records.ts';
import type { NativeAllocator, NativeGuard, ProbeRules } from '../native/contract.ts';
import type { RunLimits } from './context.ts';
import type { ProbeCommand } from './spec.ts';

/** Descriptors of the child beyond the usual three. */
export const JOURNAL_FD = 3;
/** The guard's thread writes its lines here. */
export const GUARD_FD = 4;

export const HEARTBEAT_MS = 250;

/**
 * The first line on the child's standard input. Later lines are `StopRequest`s; the end of the stream means that the
 * parent is gone.
 */
export interface ChildRequest {
  command: ProbeCommand;
  limits: RunLimits;
  guard: ProbeRules;
  /** The run that the child continues on JOURNAL_FD; null: no journal is kept. */
  journal: { path: string; run: Pick<BeginRecord, 'run' | 'bootId'> } | null;
  /** The command's own request. */
  request: unknown;
}

/** Asks the loop to end and to return its result so far. */
export type StopRequest = 'aborted' | 'timeout';

/** A line on the child's standard output. */
export type ChildMessage =
  | { type: 'heartbeat' }
  | { type: 'open'; allocator: Fact<NativeAllocator> }
  | { type: 'event'; event: unknown }
  | { type: 'done'; result: unknown; guard: NativeGuard }
  | { type: 'error'; error: SerializedError };

/** Splits a stream of text: calls `onLine` with each complete line that is not empty. */
export function lines(onLine: (line: string) => void): (text: string) => void {
  let rest = '';
  return (text) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) if (part !== '') onLine(part);
  };
}

/** The line's document; null if it is not JSON, as when a driver library prints a message. */
export function parseLine<T>(line: string): T | null {
  try {
    return JSON.parse(line) as T;
  } catch {
    return null;
  }
}
