/** The parent's record of a sweep: the steps that the child has reported, and an estimate of the remaining time. */

import { formatBoth } from '../../base/format.ts';
import type { AllocatorKind, SweepStep } from '../../types/index.ts';
import type { RunOutcome } from '../probe/outcome.ts';
import type { SweepOptions } from './options.ts';
import type { PlannedSize, SweepMessage } from './protocol.ts';
import type { SweepSize } from './sizes.ts';
import { measuredStep, UNMEASURED } from './steps.ts';

export class Progress {
  /** cudaMemGetInfo before the first step; null: cannot be read, or not reported yet. */
  deviceFree: number | null = null;
  readonly #sizes: readonly SweepSize[];
  readonly #onEvent: SweepOptions['onEvent'];
  readonly #steps: SweepStep[] = [];
  readonly #eta = new Eta();
  #planned: readonly PlannedSize[] = [];
  /** Index of the step in progress. */
  #current: number | null = null;

  constructor(sizes: readonly SweepSize[], onEvent: SweepOptions['onEvent']) {
    this.#sizes = sizes;
    this.#onEvent = onEvent;
  }

  /** @returns the result of the caller's function. */
  receive(event: SweepMessage): void | Promise<void> {
    if (event.type === 'plan') {
      this.#planned = event.steps;
      this.deviceFree = event.deviceFree;
    } else if (event.type === 'begin') {
      this.#current = event.index;
      this.#eta.begin();
    } else {
      const planned = this.#planned[event.index];
      if (planned === undefined) throw new Error(`a step that was not planned: ${event.index}`);
      const step = measuredStep(planned, this.#sizes, event.measurement);
      this.#current = null;
      this.#steps.push(step);
      this.#eta.end(planned, step.state === 'ok');
      const done = this.#steps.length;
      const etaMs = this.#eta.remainingMs(this.#planned.slice(done));
      return this.#onEvent?.({ type: 'step', step, progress: { done, total: this.#planned.length, etaMs } });
    }
  }

  /** All planned steps: the reported ones, the one during which the child ended, and those that were not reached. */
  allSteps({ reason, state }: RunOutcome): SweepStep[] {
    const currentState = state === 'complete' ? 'lost' : state;
    const done = this.#steps.length;
    const missing = this.#planned.slice(done).map((planned, at) => {
      const where = `in ${planned.kind} ${formatBoth(planned.bytes)}`;
      const end =
        this.#current === done + at
          ? { state: currentState, reason: `${reason ?? 'the process ended'}, ${where}` }
          : { state: 'not-reached' as const, reason: 'the sweep ended before it' };
      return measuredStep(planned, this.#sizes, { ...end, ...UNMEASURED });
    });
    return [...this.#steps, ...missing];
  }
}

export class Eta {
  /** Bytes and real milliseconds of the measured steps. Kinds differ by a factor of 1,000. */
  readonly #measured = new Map<AllocatorKind, { bytes: number; ms: number }>();
  readonly #now: () => number;
  #begunAt: number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#begunAt = now();
  }

  /** A step begins. */
  begin(): void {
    this.#begunAt = this.#now();
  }

  /** The step ended. A step that was refused or failed (`allocated` false) says nothing about the rate. */
  end({ bytes, kind }: PlannedSize, allocated: boolean): void {
    if (!allocated) return;
    const sum = this.#measured.get(kind) ?? { bytes: 0, ms: 0 };
    this.#measured.set(kind, { bytes: sum.bytes + bytes, ms: sum.ms + this.#now() - this.#begunAt });
  }

  /** Real milliseconds for the remaining steps; kinds without a measurement use the average. null: unknown. */
  remainingMs(remaining: readonly PlannedSize[]): number | null {
    const steps = remaining.filter(({ refusal }) => refusal === null);
    if (steps.length === 0) return 0;
    if (this.#measured.size === 0) return null;
    const average = { bytes: 0, ms: 0 };
    for (const { bytes, ms } of this.#measured.values()) {
      average.bytes += bytes;
      average.ms += ms;
    }
    return steps.reduce((sum, { bytes, kind }) => {
      const rate = this.#measured.get(kind) ?? average;
      return sum + (bytes * rate.ms) / rate.bytes;
    }, 0);
  }
}
