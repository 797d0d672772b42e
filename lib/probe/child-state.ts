/** What the parent knows of its child: the messages that it has sent so far. */

import { isFailure } from '../base/facts.ts';
import type { NativeAllocator, NativeGuard, NativeTripReport } from '../native/contract.ts';
import type { GuardReport } from '../types/index.ts';
import { guardReport } from './guard-report.ts';
import { type ChildMessage, parseLine } from './protocol.ts';
import { deserializeError } from './serialized-error.ts';

export class ChildState<Result> {
  allocator: NativeAllocator | null = null;
  result: Result | null = null;
  /** The loop has ended, with a result or an error. */
  isDone = false;
  #trip: NativeGuard['trip'] = null;
  #guardExited = false;
  #error: Error | null = null;
  /** What the caller's function threw; an object, because anything can be thrown, null included. */
  #thrown: { error: unknown } | null = null;
  readonly #onEvent: (event: unknown) => void;

  constructor(onEvent: (event: unknown) => void) {
    this.#onEvent = onEvent;
  }

  /** @returns false if the run must end. */
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
        this.isDone = true;
        break;
      case 'error':
        this.#error = deserializeError(message.error);
        this.isDone = true;
    }
    return true;
  }

  /** The guard's thread writes to a pipe of its own: its lines arrive even when the child's event loop is blocked. */
  receiveGuardLine(line: string): void {
    const report = parseLine<Partial<NativeTripReport>>(line);
    if (report === null) return;
    if (report.left === true) this.#guardExited = true;
    if (report.reason === undefined) return;
    const { available = null, freedAfterMs = null, pressureFull = null, reason, stoppedAfterMs = null } = report;
    // The exit line supersedes the trip line: it has the final timings.
    this.#trip = { reason, available, pressureFull, stoppedAfterMs, freedAfterMs };
  }

  guard(): GuardReport | null {
    return guardReport(this.#trip, this.#guardExited);
  }

  /** Throws what the caller's function threw, or else the error that ended the loop. */
  throwIfFailed(): void {
    if (this.#thrown !== null) throw this.#thrown.error;
    if (this.#error !== null) throw this.#error;
  }
}
