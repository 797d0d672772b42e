/** State of the child as its parent knows it: the messages that it has sent so far. */

import { isFailure } from '../../base/facts.ts';
import { Listener } from '../../base/listener.ts';
import { deserializeError } from '../../base/serialized-error.ts';
import type { ProbeGuardReport } from '../../types/index.ts';
import type { NativeAllocator, ProbeTrip } from '../native/contract.ts';
import { guardReport } from './guard-report.ts';
import { type ChildMessage, parseLine } from './protocol.ts';

export class ChildState<Result> {
  allocator: NativeAllocator | null = null;
  result: Result | null = null;
  /** The loop has ended, with a result or an error. */
  isDone = false;
  #trip: ProbeTrip | null = null;
  #error: Error | null = null;
  readonly #listener: Listener<unknown>;

  /** @param onThrown is called when the caller's function has failed, and the run must end. */
  constructor(onEvent: (event: unknown) => void | Promise<void>, onThrown: () => void) {
    this.#listener = new Listener(onEvent, onThrown);
  }

  receive(message: ChildMessage): void {
    switch (message.type) {
      case 'heartbeat':
        break;
      case 'open':
        if (!isFailure(message.allocator)) this.allocator = message.allocator;
        break;
      case 'event':
        this.#listener.hear(message.event);
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
  }

  /** The guard's thread writes to a pipe of its own: its lines arrive even when the child's event loop is blocked. */
  receiveGuardLine(line: string): void {
    const trip = parseLine<ProbeTrip>(line);
    // The exit line supersedes the trip line: it has the final timings.
    if (trip?.reason !== undefined) this.#trip = trip;
  }

  guard(): ProbeGuardReport | null {
    return guardReport(this.#trip);
  }

  /** Waits for the caller's functions; then throws what one of them threw, or else the error that ended the loop. */
  async throwIfFailed(): Promise<void> {
    await this.#listener.settled();
    if (this.#error !== null) throw this.#error;
  }
}
