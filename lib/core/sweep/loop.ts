/** The loop of a sweep in the child process: one step after the other, nothing held in between. */

import { isFailure } from '../../base/facts.ts';
import { formatBoth, MiB } from '../../base/format.ts';
import type { AllocatorKind } from '../../types/index.ts';
import type { ChildContext, Emit, Loop, Stop } from '../probe/context.ts';
import { CounterReader } from '../probe/counter-reader.ts';
import { callLimitMs, stepLimitMs } from '../probe/step-limit.ts';
import { measureStep, type StepCheck } from './measure.ts';
import { managedRefusal, planSweep } from './plan.ts';
import type { Measurement, PlannedSize, SweepMessage, SweepRequest, SweepResult } from './protocol.ts';
import { UNMEASURED } from './steps.ts';

/** Size that triggers the work of a kind's first call: loading, page tables, the driver's first block. */
const WARM_UP_BYTES = 2 * MiB;

export const loop: Loop<SweepRequest, SweepMessage, SweepResult> = async (context, request, emit) => {
  const { allocator, binding, limits } = context;
  const reader = await CounterReader.open(binding, limits.device, callLimitMs(limits.stepTimeoutMs), request.nvml);
  await reader.read(); // opens NVML, whose time would otherwise count for the first step
  const [deviceFree, deviceTotal] = isFailure(allocator.memGetInfo) ? [null, null] : allocator.memGetInfo;
  const steps = planSweep(request, { kinds: allocator.kinds, deviceTotal });
  emit({ type: 'plan', steps, deviceFree });
  const stop = await runSteps(context, reader, steps, request, emit);
  return { stop, sources: reader.sources };
};

async function runSteps(
  context: ChildContext,
  reader: CounterReader,
  steps: readonly PlannedSize[],
  request: SweepRequest,
  emit: Emit<SweepMessage>,
): Promise<Stop | null> {
  const warm = new Set<AllocatorKind>();
  /** The smallest size of each kind that ran out of memory. */
  const exhausted = new Map<AllocatorKind, number>();
  for (const [index, step] of steps.entries()) {
    const stop = context.stop();
    if (stop !== null) return stop;
    if (step.refusal !== null) {
      emit({ type: 'step', index, measurement: unmeasured(step.refusal) });
      continue;
    }
    // Larger sizes are not tried after a smaller one ran out of memory: every failed allocation on shared memory makes
    // the whole machine reclaim and compact first (GB10).
    const failedBytes = exhausted.get(step.kind);
    if (failedBytes !== undefined) {
      const reason = `not tried: ${formatBoth(failedBytes)} of this kind ran out of memory`;
      emit({ type: 'step', index, measurement: unmeasured({ state: 'refused', reason }) });
      continue;
    }
    emit({ type: 'begin', index });
    if (!warm.has(step.kind)) await warmUp(context, step.kind);
    warm.add(step.kind);
    const check = stepCheck(context, step, request);
    const measurement = await measureStep(context, reader, step, request.repeat, check);
    emit({ type: 'step', index, measurement });
    if (measurement.hung)
      return {
        cause: 'timeout',
        reason: `the step ${step.kind} ${formatBoth(step.bytes)} did not end within its limit`,
      };
    if (measurement.state === 'out-of-memory') exhausted.set(step.kind, step.bytes);
  }
  // The stop may have come during the last step.
  return context.stop();
}

function stepCheck(context: ChildContext, { bytes, kind }: PlannedSize, { oversubscribe }: SweepRequest): StepCheck {
  return ({ cudaFree, memAvailable }) => {
    const { floor, memoryModel } = context.limits;
    if (kind === 'managed') {
      const facts = { memoryModel, deviceFree: cudaFree, memAvailable, floor, oversubscribe };
      const refusal = managedRefusal(bytes, facts);
      if (refusal !== null) return refusal;
    }
    const step = { kind, heldBytes: 0, targetBytes: bytes };
    // Managed memory of a device with its own memory takes from the host only the part that does not fit the device.
    const spills = kind === 'managed' && memoryModel !== 'unified' && cudaFree !== null;
    const planned = spills ? { ...step, predictedCost: Math.max(0, bytes - cudaFree) } : step;
    return context.check(planned)?.sentence ?? null;
  };
}

/** Ignores failures: the step itself will fail the same way and report it. */
async function warmUp(context: ChildContext, kind: AllocatorKind): Promise<void> {
  const { binding, limits } = context;
  if (context.check({ kind, heldBytes: 0, targetBytes: WARM_UP_BYTES }) !== null) return;
  const limitMs = stepLimitMs(limits.stepTimeoutMs, kind, WARM_UP_BYTES);
  const allocated = await binding.allocBlock(kind, WARM_UP_BYTES, limitMs);
  if (isFailure(allocated)) return;
  await binding.touchBlock(allocated.block, 1, limitMs);
  await binding.freeBlock(allocated.block, limitMs);
}

function unmeasured({ reason, state }: { state: 'unsupported' | 'refused'; reason: string }): Measurement {
  return { state, reason, hung: false, ...UNMEASURED };
}
