/** One step of a sweep in the child: allocate, touch, touch again, free, and read the counters around it. */

import type { Fact } from '../base/errors.ts';
import { isFailure } from '../base/facts.ts';
import type { ChildContext, Stop } from '../probe/context.ts';
import { type CounterSeries, median, type Reader } from '../probe/counters.ts';
import { outcomeOf } from '../probe/outcome.ts';
import type { AllocatorKind } from '../types/index.ts';
import type { Measured } from './protocol.ts';

/** A step came to its end before its last repeat. */
export interface Ended {
  state: Exclude<Measured['state'], 'ok' | 'unsupported'>;
  reason: string;
  hung: boolean;
}

export interface Step {
  kind: AllocatorKind;
  bytes: number;
}

/** One repeat, in real milliseconds; what it did not come to is undefined. */
interface Repeat {
  allocMs?: number;
  firstTouchMs?: number;
  secondTouchMs?: number;
  freeMs?: number;
  wallMs: number;
  counters: CounterSeries;
  ended: Ended | null;
}

/** Whether the step may be made, asked before every repeat: the machine changes. */
export type Permit = (before: CounterSeries['before']) => string | null;

export async function measureStep(
  context: ChildContext,
  reader: Reader,
  step: Step,
  repeat: number,
  permit: Permit,
): Promise<Measured> {
  const repeats: Repeat[] = [];
  const planned = { kind: step.kind, heldBytes: 0, targetBytes: step.bytes };
  let journalMs: number | null = null;
  let ended: Ended | null = null;
  while (ended === null && repeats.length < repeat) {
    await context.waitForLowPressure();
    let started = performance.now();
    ended = stopped(context.stop());
    if (ended !== null) break;
    const before = await reader.read();
    const no = permit(before);
    if (no !== null) {
      ended = { state: 'refused', reason: no, hung: false };
      break;
    }
    if (journalMs === null) {
      journalMs = timed(() => context.begin(planned));
      started += journalMs;
    }
    const counters = { before, afterAlloc: null, afterTouch: null, afterFree: null };
    const made: Repeat = { counters, ended: null, wallMs: 0 };
    repeats.push(made);
    await allocateAndTouch(context, reader, step, made, repeats.length);
    made.wallMs = performance.now() - started;
    ended = made.ended;
  }
  if (journalMs !== null) {
    const result = { state: ended?.state ?? 'ok', heldBytes: context.binding.liveBlocks()[1] };
    journalMs += timed(() => context.finish(result));
  }
  return summary(repeats, ended, journalMs ?? 0, context.limits.timeScale ?? 1);
}

function timed(job: () => void): number {
  const from = performance.now();
  job();
  return performance.now() - from;
}

async function allocateAndTouch(
  context: ChildContext,
  reader: Reader,
  { kind, bytes }: Step,
  made: Repeat,
  nth: number,
): Promise<void> {
  const { binding, limits } = context;
  const limit = limits.stepDeadlineMs;
  const allocated = await binding.allocBlock(kind, bytes, limit);
  if (isFailure(allocated)) {
    made.ended = outcomeOf(context, allocated);
    return;
  }
  const { block } = allocated;
  made.allocMs = allocated.durationMs;
  made.counters.afterAlloc = await reader.read();
  const first = await unlessStopped(context, made, () => binding.touchBlock(block, 2 * nth, limit));
  if (first !== null) {
    made.firstTouchMs = first.durationMs;
    made.counters.afterTouch = await reader.read();
    const second = await unlessStopped(context, made, () => binding.touchBlock(block, 2 * nth + 1, limit));
    if (second !== null) made.secondTouchMs = second.durationMs;
  }
  const freed = await binding.freeBlock(block, limit);
  if (!isFailure(freed)) made.freeMs = freed.durationMs;
  // What ended the step before is the reason, not that the guard has freed its block meanwhile.
  else made.ended ??= outcomeOf(context, freed);
  made.counters.afterFree = await reader.read();
}

/** null: it was not done, or it failed; `made` says why. */
async function unlessStopped<T>(context: ChildContext, made: Repeat, job: () => Promise<Fact<T>>): Promise<T | null> {
  made.ended = stopped(context.stop());
  if (made.ended !== null) return null;
  const done = await job();
  if (!isFailure(done)) return done;
  made.ended = outcomeOf(context, done);
  return null;
}

function stopped(stop: Stop | null): Ended | null {
  return stop === null
    ? null
    : { state: stop.cause === 'guard' ? 'stopped' : 'aborted', reason: stop.reason, hung: false };
}

function summary(repeats: readonly Repeat[], ended: Ended | null, journalMs: number, scale: number): Measured {
  const list = (name: 'allocMs' | 'firstTouchMs' | 'secondTouchMs' | 'freeMs'): number[] =>
    repeats.flatMap(({ [name]: ms }) => (ms === undefined ? [] : [ms * scale]));
  const own = median(repeats.map((made) => made.wallMs - cudaMs(made)));
  return {
    state: ended?.state ?? 'ok',
    reason: ended?.reason ?? null,
    hung: ended?.hung ?? false,
    allocMs: list('allocMs'),
    firstTouchMs: list('firstTouchMs'),
    secondTouchMs: list('secondTouchMs'),
    freeMs: list('freeMs'),
    moved: repeats.map(({ counters }) => counters),
    overheadMs: own === null ? null : own + journalMs,
  };
}

function cudaMs({ allocMs = 0, firstTouchMs = 0, freeMs = 0, secondTouchMs = 0 }: Repeat): number {
  return allocMs + firstTouchMs + secondTouchMs + freeMs;
}
