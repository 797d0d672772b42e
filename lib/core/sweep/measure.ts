/** One step of a sweep in the child: allocate, touch, touch again, free, and read the counters around each part. */

import type { Fact } from '../../base/errors.ts';
import { isFailure } from '../../base/facts.ts';
import type { AllocatorKind } from '../../types/index.ts';
import type { ChildContext, Stop } from '../probe/context.ts';
import type { CounterReader } from '../probe/counter-reader.ts';
import { type CounterSeries, type Counters, median } from '../probe/counters.ts';
import { stepFailure, stopState } from '../probe/outcome.ts';
import { stepLimitMs } from '../probe/step-limit.ts';
import type { Measurement } from './protocol.ts';

/** Reason for a step's end before its last repeat. */
interface EarlyEnd {
  state: Exclude<Measurement['state'], 'ok' | 'unsupported'>;
  reason: string;
  hung: boolean;
}

export interface SizeStep {
  kind: AllocatorKind;
  bytes: number;
}

/** Returns why the step must not be made; null: it may. Called before every repeat, because the machine changes. */
export type StepCheck = (before: Counters) => string | null;

/** One repeat, in real milliseconds; times that it did not reach are undefined. */
interface Repeat {
  allocMs?: number;
  firstTouchMs?: number;
  secondTouchMs?: number;
  freeMs?: number;
  wallMs: number;
  counters: CounterSeries;
  end: EarlyEnd | null;
}

type Reader = Pick<CounterReader, 'read'>;

export async function measureStep(
  context: ChildContext,
  reader: Reader,
  step: SizeStep,
  repeatCount: number,
  check: StepCheck,
): Promise<Measurement> {
  const repeats: Repeat[] = [];
  const planned = { kind: step.kind, heldBytes: 0, targetBytes: step.bytes };
  let journalMs: number | null = null;
  let end: EarlyEnd | null = null;
  while (end === null && repeats.length < repeatCount) {
    await context.waitForLowPressure();
    let started = performance.now();
    end = stopEnd(context.stop());
    if (end !== null) break;
    const before = await reader.read();
    const refusal = check(before);
    if (refusal !== null) {
      end = { state: 'refused', reason: refusal, hung: false };
      break;
    }
    if (journalMs === null) {
      const beginning = performance.now();
      end = stopEnd(context.begin(planned));
      if (end !== null) break;
      journalMs = performance.now() - beginning;
      started += journalMs;
    }
    const counters = { before, afterAlloc: null, afterTouch: null, afterFree: null };
    const repeat: Repeat = { counters, end: null, wallMs: 0 };
    repeats.push(repeat);
    await allocateAndTouch(context, reader, step, repeat, repeats.length);
    repeat.wallMs = performance.now() - started;
    end = repeat.end;
  }
  if (journalMs !== null) {
    const result = { state: end?.state ?? 'ok', heldBytes: context.binding.liveBlocks()[1] };
    journalMs += timed(() => context.finish(result));
  }
  return measurement(repeats, end, journalMs ?? 0, context.limits.timeScale ?? 1);
}

function timed(job: () => void): number {
  const started = performance.now();
  job();
  return performance.now() - started;
}

/** @param nth number of the repeat, from 1: every touch of a step writes another pattern. */
async function allocateAndTouch(
  context: ChildContext,
  reader: Reader,
  { kind, bytes }: SizeStep,
  repeat: Repeat,
  nth: number,
): Promise<void> {
  const { binding, limits } = context;
  const deadlineMs = stepLimitMs(limits.stepTimeoutMs, kind, bytes);
  const allocated = await binding.allocBlock(kind, bytes, deadlineMs);
  if (isFailure(allocated)) {
    repeat.end = stepFailure(context, allocated);
    return;
  }
  const { block } = allocated;
  repeat.allocMs = allocated.durationMs;
  repeat.counters.afterAlloc = await reader.read();
  const first = await unlessStopped(context, repeat, () => binding.touchBlock(block, 2 * nth, deadlineMs));
  if (first !== null) {
    repeat.firstTouchMs = first.durationMs;
    repeat.counters.afterTouch = await reader.read();
    const second = await unlessStopped(context, repeat, () => binding.touchBlock(block, 2 * nth + 1, deadlineMs));
    if (second !== null) repeat.secondTouchMs = second.durationMs;
  }
  const freed = await binding.freeBlock(block, deadlineMs);
  if (!isFailure(freed)) repeat.freeMs = freed.durationMs;
  // An earlier end is the reason to report; this free fails as well if the guard has freed the block.
  else repeat.end ??= stepFailure(context, freed);
  repeat.counters.afterFree = await reader.read();
}

/** @returns null if the call was not made or failed; `repeat.end` has the reason. */
async function unlessStopped<T>(
  context: ChildContext,
  repeat: Repeat,
  call: () => Promise<Fact<T>>,
): Promise<T | null> {
  repeat.end = stopEnd(context.stop());
  if (repeat.end !== null) return null;
  const value = await call();
  if (!isFailure(value)) return value;
  repeat.end = stepFailure(context, value);
  return null;
}

function stopEnd(stop: Stop | null): EarlyEnd | null {
  if (stop === null) return null;
  return { state: stopState(stop.cause), reason: stop.reason, hung: false };
}

function measurement(
  repeats: readonly Repeat[],
  end: EarlyEnd | null,
  journalMs: number,
  timeScale: number,
): Measurement {
  const timesOf = (name: 'allocMs' | 'firstTouchMs' | 'secondTouchMs' | 'freeMs'): number[] =>
    repeats.flatMap(({ [name]: ms }) => (ms === undefined ? [] : [ms * timeScale]));
  const overheadMs = median(repeats.map((repeat) => repeat.wallMs - nativeMs(repeat)));
  return {
    state: end?.state ?? 'ok',
    reason: end?.reason ?? null,
    hung: end?.hung ?? false,
    allocMs: timesOf('allocMs'),
    firstTouchMs: timesOf('firstTouchMs'),
    secondTouchMs: timesOf('secondTouchMs'),
    freeMs: timesOf('freeMs'),
    moved: repeats.map(({ counters }) => counters),
    overheadMs: overheadMs === null ? null : overheadMs + journalMs,
  };
}

function nativeMs({ allocMs = 0, firstTouchMs = 0, freeMs = 0, secondTouchMs = 0 }: Repeat): number {
  return allocMs + firstTouchMs + secondTouchMs + freeMs;
}
