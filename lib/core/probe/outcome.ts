/** Outcomes that all probe commands share: of a native call that failed in a step, and of a whole run. */

import { errorCode, type Failure } from '../../base/errors.ts';
import { reason } from '../../base/facts.ts';
import type { RunState, StepState } from '../../types/index.ts';
import type { ChildContext, Stop } from './context.ts';
import { guardSentence } from './guard-report.ts';
import type { ProbeRun } from './spec.ts';

/** The outcome of a step in which a native call failed. */
export interface StepFailure {
  state: Extract<StepState, 'stopped' | 'out-of-memory' | 'failed'>;
  reason: string;
  /** True: the call has not returned. No other call of the same library does until then. */
  hung: boolean;
}

/** Returns why the call failed and, if it did not return in time, how to allow it more. */
export function failureReason(failure: Failure): string {
  if (errorCode(failure) !== 'ERR_UMA_TIMEOUT') return reason(failure);
  return `${reason(failure)}; if it only needs longer, allow more: --step-timeout (stepTimeoutMs)`;
}

/** Every failure after a trip of the guard counts as stopped: the guard has freed the blocks. */
export function stepFailure(context: Pick<ChildContext, 'stop'>, failure: Failure): StepFailure {
  const stop = context.stop();
  if (stop?.cause === 'guard') return { state: 'stopped', reason: stop.reason, hung: false };
  if (failure.name === 'STOPPED') return { state: 'stopped', reason: reason(failure), hung: false };
  const code = errorCode(failure);
  const state = code === 'ERR_UMA_OUT_OF_MEMORY' ? 'out-of-memory' : 'failed';
  return { state, reason: failureReason(failure), hung: code === 'ERR_UMA_TIMEOUT' };
}

export interface RunOutcome {
  state: RunState;
  /** null: complete. */
  reason: string | null;
}

/** The caller ends a run; the guard and a journal that cannot be written stop it. */
export function stopState(cause: Stop['cause']): 'aborted' | 'timeout' | 'stopped' {
  return cause === 'aborted' || cause === 'timeout' ? cause : 'stopped';
}

/**
 * If the guard ended the process, the run was `stopped`, not `lost`: a 70 GB cudaMalloc takes seconds, cannot be
 * interrupted, and frees its memory only when the process exits.
 */
export function runOutcome(run: Omit<ProbeRun<{ stop: Stop | null }>, 'settled'>): RunOutcome {
  const { end, guard, header, result } = run;
  if (end === 'complete') {
    const stop = result?.stop ?? null;
    if (stop === null) return { state: 'complete', reason: null };
    return { state: stopState(stop.cause), reason: stop.reason };
  }
  if (guard === null || guard.reason === 'parent') return { state: end, reason: run.reason };
  const sentence = guardSentence(
    { ...guard, available: guard.memAvailable },
    { floor: header.floor?.bytes ?? null, pressureFull: null },
  );
  const exit = guard.left ? '; the allocation in progress could not be freed in time, and the process exited' : '';
  return { state: 'stopped', reason: `${sentence}${exit}` };
}
