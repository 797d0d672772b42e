/** What the child has said so far. */

import { toUmaError, UmaError, type UmaErrorCode } from '../base/errors.ts';
import { isFailure } from '../base/facts.ts';
import type { NativeAllocator, NativeGuard } from '../native/contract.ts';
import { guardReport } from './guard-report.ts';
import { type ChildMessage, parseLine, type SerializedError } from './protocol.ts';

export class ChildState<Result> {
  allocator: NativeAllocator | null = null;
  result: Result | null = null;
  /** It has said its last word. */
  isOver = false;
  #trip: NativeGuard['trip'] = null;
  #left = false;
  #error: Error | null = null;
  #thrown: { error: unknown } | null = null;
  readonly #onEvent: (event: unknown) => void;

  constructor(onEvent: (event: unknown) => void) {
    this.#onEvent = onEvent;
  }

  /** False: the run must end. */
  receive(message: ChildMessage): boolean {
    switch (message.type) {
      case 'heartbeat':
        break;
      case 'open':
        if (!isFailure(message.allocator)) this.allocator = message.allocator;
        break;
      case 'event':
        if (this.#thrown !== null) return false;
        try {
          this.#onEvent(message.event);
        } catch (error) {
          this.#thrown = { error };
          return false;
        }
        break;
      case 'done':
        this.result = message.result as Result;
        this.#trip = message.guard.trip ?? this.#trip;
        this.isOver = true;
        break;
      case 'error':
        this.#error = restored(message.error);
        this.isOver = true;
    }
    return true;
  }

  /** The guard's own words reach us when nothing else of the child does any more. */
  guardLine(line: string): void {
    const said = parseLine<Partial<NonNullable<NativeGuard['trip']>> & { left?: boolean }>(line);
    if (said === null) return;
    if (said.left === true) this.#left = true;
    if (said.reason === undefined) return;
    const { available = null, freedAfterMs = null, pressureFull = null, reason, stoppedAfterMs = null } = said;
    // The line of one that leaves is the later one: it knows what was stopped and freed meanwhile.
    this.#trip = { reason, available, pressureFull, stoppedAfterMs, freedAfterMs };
  }

  guard() {
    return guardReport(this.#trip, this.#left);
  }

  /** What the caller's function threw, else what the child could not go on with. */
  throwIfFailed(): void {
    if (this.#thrown !== null) throw this.#thrown.error;
    if (this.#error !== null) throw this.#error;
  }
}

function restored({ code, failure, message, stack }: SerializedError): Error {
  if (failure === null) return Object.assign(new Error(message), { code, stack });
  if (code === null) return toUmaError(failure);
  const error = new UmaError(code as UmaErrorCode, failure);
  error.message = message;
  return error;
}
