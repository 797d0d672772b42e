/** The layout's loop in the child process: all parts held at once. */

import type { Failure } from '../base/errors.ts';
import { isFailure } from '../base/facts.ts';
import type { ChildContext, Loop } from '../probe/context.ts';
import { COUNTERS, CounterReader, type Counters } from '../probe/counters.ts';
import { outcomeOf } from '../probe/outcome.ts';
import type { LayoutPart } from '../types/index.ts';
import type { Part } from './parts.ts';
import type { LayoutEvent, LayoutRequest, LayoutResult } from './protocol.ts';

export const loop: Loop<LayoutRequest, LayoutEvent, LayoutResult> = async (context, request, say) => {
  const { binding, limits } = context;
  const reader = new CounterReader(binding, limits.device, limits.stepDeadlineMs, request.nvml);
  const before = await reader.read();
  let byCalls: Counters = { ...before };
  let made = 0;
  let stop = context.stop();
  for (const [index, part] of request.parts.entries()) {
    await context.waitForLowPressure();
    stop ??= context.stop();
    if (stop !== null) break;
    const { allocated, answer } = await take(context, reader, request, part);
    if (allocated !== null) byCalls = shifted(byCalls, allocated);
    say({ index, part: answer });
    if (answer.firstTouchMs !== null) made += 1;
    stop = context.stop();
    if (answer.state !== 'ok') break;
  }
  const [, allocatedBytes] = binding.liveBlocks();
  const afterTouch = made === 0 ? null : await reader.read();
  await binding.freeBlocks(limits.stepDeadlineMs);
  const afterFree = await reader.read();
  const counters = { before, afterAlloc: made === 0 ? null : byCalls, afterTouch, afterFree };
  return { stop, allocatedBytes, counters, origins: reader.origins };
};

interface Taken {
  answer: LayoutPart;
  /** The counters around the allocator's call; null: it did not succeed. */
  allocated: { before: Counters; after: Counters } | null;
}

async function take(
  context: ChildContext,
  reader: CounterReader,
  { kind }: LayoutRequest,
  { bytes, name }: Part,
): Promise<Taken> {
  const { binding, limits } = context;
  const scale = limits.timeScale ?? 1;
  const answer: LayoutPart = {
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
  const no = context.check(step);
  if (no !== null) return { answer: { ...answer, state: 'refused', reason: no.sentence }, allocated: null };
  context.begin(step);
  const allocated = await binding.allocBlock(kind, bytes, limits.stepDeadlineMs);
  if (isFailure(allocated)) {
    Object.assign(answer, failed(context, allocated));
    context.finish({ state: answer.state, heldBytes });
    return { answer, allocated: null };
  }
  answer.allocMs = allocated.durationMs * scale;
  const after = await reader.read();
  const touched = await binding.touchBlock(allocated.block, 1, limits.stepDeadlineMs);
  if (isFailure(touched)) Object.assign(answer, failed(context, touched));
  else answer.firstTouchMs = touched.durationMs * scale;
  context.finish({ state: answer.state, heldBytes: binding.liveBlocks()[1] });
  return { answer, allocated: { before, after } };
}

function failed(context: ChildContext, failure: Failure): Pick<LayoutPart, 'state' | 'reason'> {
  const { reason, state } = outcomeOf(context, failure);
  return { state, reason };
}

/** The counters moved on by what one call has changed. */
function shifted(counters: Counters, { after, before }: { before: Counters; after: Counters }): Counters {
  const moved = { ...counters };
  for (const counter of COUNTERS) {
    const [sum, from, to] = [counters[counter], before[counter], after[counter]];
    moved[counter] = sum === null || from === null || to === null ? null : sum + to - from;
  }
  return moved;
}
