/** The loop of a layout in the child process: allocates and touches part by part, and holds all of them. */

import { isFailure } from '../../base/facts.ts';
import type { AllocatorKind, LayoutPart } from '../../types/index.ts';
import type { ChildContext, Loop } from '../probe/context.ts';
import { CounterReader } from '../probe/counter-reader.ts';
import { COUNTERS, type Counters } from '../probe/counters.ts';
import { stepFailure } from '../probe/outcome.ts';
import { callLimitMs, stepLimitMs } from '../probe/step-limit.ts';
import type { Part } from './parts.ts';
import type { LayoutMessage, LayoutRequest, LayoutResult } from './protocol.ts';

export const loop: Loop<LayoutRequest, LayoutMessage, LayoutResult> = async (context, request, emit) => {
  const { binding, limits } = context;
  const reader = await CounterReader.open(binding, limits.device, callLimitMs(limits.stepTimeoutMs), request.nvml);
  const before = await reader.read();
  let afterAlloc: Counters = { ...before };
  let touchedParts = 0;
  let stop = context.stop();
  for (const [index, requested] of request.parts.entries()) {
    await context.waitForLowPressure();
    stop ??= context.stop();
    if (stop !== null) break;
    const { allocation, part } = await allocatePart(context, reader, request.kind, requested);
    if (allocation !== null) afterAlloc = addChange(afterAlloc, allocation);
    emit({ index, part });
    if (part.firstTouchMs !== null) touchedParts += 1;
    stop = context.stop();
    if (part.state !== 'ok') break;
  }
  const [, allocatedBytes] = binding.liveBlocks();
  const isTouched = touchedParts > 0;
  const afterTouch = isTouched ? await reader.read() : null;
  await binding.freeBlocks(stepLimitMs(limits.stepTimeoutMs, request.kind, allocatedBytes));
  const afterFree = await reader.read();
  const counters = { before, afterAlloc: isTouched ? afterAlloc : null, afterTouch, afterFree };
  return { stop, allocatedBytes, counters, sources: reader.sources };
};

/** The counters around one allocation call. */
interface Allocation {
  before: Counters;
  after: Counters;
}

/** @returns `allocation` null: the call did not succeed. */
async function allocatePart(
  context: ChildContext,
  reader: CounterReader,
  kind: AllocatorKind,
  { bytes, name }: Part,
): Promise<{ part: LayoutPart; allocation: Allocation | null }> {
  const { binding, limits } = context;
  const scale = limits.timeScale ?? 1;
  const part: LayoutPart = {
    name,
    expectedBytes: bytes,
    state: 'ok',
    reason: null,
    allocMs: null,
    firstTouchMs: null,
  };
  const [, heldBytes] = binding.liveBlocks();
  const step = { kind, heldBytes, targetBytes: heldBytes + bytes };
  const before = await reader.read();
  const refusal = context.check(step);
  if (refusal !== null) return { part: { ...part, state: 'refused', reason: refusal.sentence }, allocation: null };
  const unrecorded = context.begin(step);
  if (unrecorded !== null) {
    return { part: { ...part, state: 'stopped', reason: unrecorded.reason }, allocation: null };
  }
  const limitMs = stepLimitMs(limits.stepTimeoutMs, kind, bytes);
  const allocated = await binding.allocBlock(kind, bytes, limitMs);
  if (isFailure(allocated)) {
    const { reason, state } = stepFailure(context, allocated);
    context.finish({ state, heldBytes });
    return { part: { ...part, state, reason }, allocation: null };
  }
  part.allocMs = allocated.durationMs * scale;
  const after = await reader.read();
  const touched = await binding.touchBlock(allocated.block, 1, limitMs);
  if (isFailure(touched)) {
    const { reason, state } = stepFailure(context, touched);
    Object.assign(part, { state, reason });
  } else part.firstTouchMs = touched.durationMs * scale;
  context.finish({ state: part.state, heldBytes: binding.liveBlocks()[1] });
  return { part, allocation: { before, after } };
}

/** Adds the change of one allocation to each counter; unknown stays unknown. */
function addChange(counters: Counters, { after, before }: Allocation): Counters {
  const sums = { ...counters };
  for (const counter of COUNTERS) {
    const [sum, from, to] = [counters[counter], before[counter], after[counter]];
    sums[counter] = sum === null || from === null || to === null ? null : sum + to - from;
  }
  return sums;
}
