/** `sweep()` with its options checked: runs the child, and makes the report of what it says. */

import { invalidArgument } from '../base/arguments.ts';
import { formatBoth } from '../base/format.ts';
import { KINDS } from '../memory/kinds.ts';
import { COUNTERS, nvmlTarget } from '../probe/counters.ts';
import type { CheckedProbeOptions } from '../probe/options.ts';
import { type End, endOf } from '../probe/outcome.ts';
import { runProbe } from '../probe/run.ts';
import type { Baseline } from '../probe/spec.ts';
import type { AllocatorKind, SweepOptions, SweepReport, SweepStep } from '../types/index.ts';
import type { PlannedSize, SweepEvent, SweepRequest, SweepResult } from './protocol.ts';
import type { SweepPreset, SweepSize } from './sizes.ts';
import { type SpillFacts, spillsOf } from './spill.ts';
import { emptyStep, largestOf, stepOf } from './steps.ts';

export interface CheckedSweep {
  probe: CheckedProbeOptions;
  kinds: readonly AllocatorKind[] | 'all';
  sizes: readonly SweepSize[];
  preset: SweepPreset | null;
  repeat: number;
  oversubscribe: boolean;
  onStep: SweepOptions['onStep'];
}

export async function runSweep(options: CheckedSweep): Promise<SweepReport> {
  const { kinds, oversubscribe, preset, repeat, sizes } = options;
  const progress = new Progress(options);
  const run = await runProbe<SweepRequest, SweepEvent, SweepResult>({
    command: 'sweep',
    options: options.probe,
    kinds: kinds === 'all' ? KINDS : kinds,
    request(ground) {
      if (oversubscribe) checkOversubscribe(ground);
      return { kinds, sizes: sizes.map(({ bytes }) => bytes), repeat, oversubscribe, nvml: nvmlTarget(ground.device) };
    },
    onEvent: (event) => progress.take(event),
  });
  const end = endOf(run);
  const { reason, state } = end;
  const steps = progress.all(end);
  const { header } = run;
  for (const counter of COUNTERS) {
    const from = run.result?.counters[counter];
    if (from !== undefined) header.from[`moved.${counter}`] = from;
  }
  return {
    schema: 'umaprobe/sweep/1',
    ...header,
    preset,
    repeat,
    state,
    reason,
    steps,
    spills: spillsOf(steps, progress.device(header.device)),
    largest: largestOf(steps),
  };
}

function checkOversubscribe({ device }: Baseline): void {
  if (device.memoryModel !== 'unified') return;
  const name = device.name ?? `device ${device.index}`;
  const words = `oversubscribe is true; expected false for ${name}: it has no memory of its own that could spill, and what passes the host’s freezes the machine`;
  throw invalidArgument(words);
}

/** What the child has said so far. */
class Progress {
  readonly #options: CheckedSweep;
  readonly #steps: SweepStep[] = [];
  readonly #eta = new Eta();
  #planned: readonly PlannedSize[] = [];
  /** The step that the child is in. */
  #begun: number | null = null;
  #deviceFree: number | null = null;

  constructor(options: CheckedSweep) {
    this.#options = options;
  }

  take(event: SweepEvent): void {
    if (event.what === 'plan') {
      this.#planned = event.steps;
      this.#deviceFree = event.deviceFree;
    } else if (event.what === 'begin') {
      this.#begun = event.index;
      this.#eta.begin();
    } else {
      const planned = this.#planned[event.index];
      if (planned === undefined) throw new Error(`a step that was not planned: ${event.index}`);
      const step = stepOf(planned, this.#options.sizes, event.measured);
      this.#begun = null;
      this.#steps.push(step);
      this.#eta.end(planned, step.state === 'ok');
      const done = this.#steps.length;
      const etaMs = this.#eta.expected(this.#planned.slice(done));
      this.#options.onStep?.(step, { done, total: this.#planned.length, etaMs });
    }
  }

  /** With the step in which the child came to its end, and those that it did not come to. */
  all({ reason, state }: End): SweepStep[] {
    const { sizes } = this.#options;
    const begun = state === 'lost' || state === 'stopped' ? state : 'aborted';
    const done = this.#steps.length;
    const missing = this.#planned.slice(done).map((planned, at) => {
      if (this.#begun !== done + at) return emptyStep(planned, sizes, 'not-reached', reason);
      const words = `${reason ?? 'the process ended'}, in ${planned.kind} ${formatBoth(planned.bytes)}`;
      return emptyStep(planned, sizes, begun, words);
    });
    return [...this.#steps, ...missing];
  }

  device({ memoryModel, total }: SweepReport['device']): SpillFacts {
    return { memoryModel, deviceFree: this.#deviceFree, deviceTotal: total };
  }
}

export class Eta {
  /** Bytes and real milliseconds of the steps that allocated, by kind: these differ by a factor of a thousand. */
  readonly #seen = new Map<AllocatorKind, { bytes: number; ms: number }>();
  readonly #now: () => number;
  #since: number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#since = now();
  }

  /** A step begins now. */
  begin(): void {
    this.#since = this.#now();
  }

  /** It ended; `allocated`: it was made and not only refused. */
  end({ bytes, kind }: PlannedSize, allocated: boolean): void {
    if (!allocated) return;
    const sum = this.#seen.get(kind) ?? { bytes: 0, ms: 0 };
    this.#seen.set(kind, { bytes: sum.bytes + bytes, ms: sum.ms + this.#now() - this.#since });
  }

  /**
   * Real milliseconds for these steps. A kind of which nothing was measured yet is taken to be as fast as the others were.
   * null: nothing was measured at all.
   */
  expected(rest: readonly PlannedSize[]): number | null {
    const left = rest.filter(({ refusal }) => refusal === null);
    if (left.length === 0) return 0;
    if (this.#seen.size === 0) return null;
    const all = { bytes: 0, ms: 0 };
    for (const { bytes, ms } of this.#seen.values()) {
      all.bytes += bytes;
      all.ms += ms;
    }
    return left.reduce((sum, { bytes, kind }) => {
      const rate = this.#seen.get(kind) ?? all;
      return sum + (bytes * rate.ms) / rate.bytes;
    }, 0);
  }
}
