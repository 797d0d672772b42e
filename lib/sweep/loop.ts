/** The sweep's loop in the child process. */

import { isFailure } from '../base/facts.ts';
import { formatBoth } from '../base/format.ts';
import type { ChildContext, Emit, Loop, Stop } from '../probe/context.ts';
import { CounterReader } from '../probe/counters.ts';
import type { AllocatorKind } from '../types/index.ts';
import { measureStep, type Permit } from './measure.ts';
import { managedRefusal, planSweep } from './plan.ts';
import type { Measured, PlannedSize, SweepEvent, SweepRequest, SweepResult } from './protocol.ts';

/** Enough for what a first call of a kind does once: loading, page tables, the driver's first block. */
const WARM_UP_BYTES = 2 * 2 ** 20;

export const loop: Loop<SweepRequest, SweepEvent, SweepResult> = async (context, request, say) => {
  const { allocator, binding, limits } = context;
  const reader = new CounterReader(binding, limits.device, limits.stepDeadlineMs, request.nvml);
  await reader.read(); // opens NVML, which is no part of the first step
  const [deviceFree, deviceTotal] = isFailure(allocator.memGetInfo) ? [null, null] : allocator.memGetInfo;
  const steps = planSweep(request, { kinds: allocator.kinds, deviceTotal });
  say({ what: 'plan', steps, deviceFree });
  const stop = await walk(context, reader, steps, request, say);
  return { stop, counters: reader.origins };
};

async function walk(
  context: ChildContext,
  reader: CounterReader,
  steps: readonly PlannedSize[],
  request: SweepRequest,
  say: Emit<SweepEvent>,
): Promise<Stop | null> {
  const warm = new Set<AllocatorKind>();
  const exhausted = new Map<AllocatorKind, number>();
  for (const [index, step] of steps.entries()) {
    const stop = context.stop();
    if (stop !== null) return stop;
    if (step.refusal !== null) {
      say({ what: 'step', index, measured: notMade(step.refusal) });
      continue;
    }
    // Where the allocator had no memory for less, it is not asked for more: on shared memory each such try presses on the
    // whole machine (gb10: it reclaims and compacts before it fails).
    const less = exhausted.get(step.kind);
    if (less !== undefined) {
      const words = `not tried: ${formatBoth(less)} of this kind ran out of memory`;
      say({ what: 'step', index, measured: notMade({ state: 'refused', reason: words }) });
      continue;
    }
    say({ what: 'begin', index });
    if (!warm.has(step.kind)) await warmUp(context, step.kind);
    warm.add(step.kind);
    const measured = await measureStep(context, reader, step, request.repeat, permit(context, step, request));
    say({ what: 'step', index, measured });
    if (measured.hung) return { cause: 'timeout', reason: measured.reason ?? 'a native call did not come back' };
    if (measured.state === 'out-of-memory') exhausted.set(step.kind, step.bytes);
  }
  // The last step may be the one that was stopped.
  return context.stop();
}

function permit(context: ChildContext, { bytes, kind }: PlannedSize, { oversubscribe }: SweepRequest): Permit {
  return (before) => {
    const { cudaFree, memAvailable } = before;
    const { floor, memoryModel } = context.limits;
    if (kind === 'managed') {
      const facts = { memoryModel, deviceFree: cudaFree, memAvailable, floor, oversubscribe };
      const no = managedRefusal(bytes, facts);
      if (no !== null) return no;
    }
    const planned = { kind, heldBytes: 0, targetBytes: bytes };
    // Managed memory takes the host's only for what does not fit into a device that has its own.
    const spilling = kind === 'managed' && memoryModel !== 'unified' && cudaFree !== null;
    const step = spilling ? { ...planned, predictedCost: Math.max(0, bytes - cudaFree) } : planned;
    return context.check(step)?.sentence ?? null;
  };
}

/** Its failures are not told: the step itself meets them again, and says so. */
async function warmUp(context: ChildContext, kind: AllocatorKind): Promise<void> {
  const { binding, limits } = context;
  if (context.check({ kind, heldBytes: 0, targetBytes: WARM_UP_BYTES }) !== null) return;
  const made = await binding.allocBlock(kind, WARM_UP_BYTES, limits.stepDeadlineMs);
  if (isFailure(made)) return;
  await binding.touchBlock(made.block, 1, limits.stepDeadlineMs);
  await binding.freeBlock(made.block, limits.stepDeadlineMs);
}

function notMade({ reason, state }: { state: 'unsupported' | 'refused'; reason: string }): Measured {
  const none = { allocMs: [], firstTouchMs: [], secondTouchMs: [], freeMs: [] };
  return { state, reason, hung: false, ...none, moved: [], overheadMs: null };
}
