import { errorCode, type Failure } from '../base/errors.ts';
import { reason } from '../base/facts.ts';
import type { ChildContext, Stop } from './context.ts';
import { guardSentence } from './guard-report.ts';
import type { ProbeRun } from './spec.ts';

/** How a native job that failed ends its step. */
export interface Ending {
  state: 'stopped' | 'out-of-memory' | 'failed';
  reason: string;
  /** The call has not come back: none of the same library will, until it does. */
  hung: boolean;
}

/** Once the guard has tripped it has freed what was held, and everything that fails from then on is its doing. */
export function outcomeOf(context: Pick<ChildContext, 'stop'>, failure: Failure): Ending {
  const stop = context.stop();
  if (stop?.cause === 'guard') return { state: 'stopped', reason: stop.reason, hung: false };
  const words = reason(failure);
  if (failure.name === 'STOPPED') return { state: 'stopped', reason: words, hung: false };
  const code = errorCode(failure);
  const state = code === 'ERR_UMA_OUT_OF_MEMORY' ? 'out-of-memory' : 'failed';
  return { state, reason: words, hung: code === 'ERR_UMA_TIMEOUT' };
}

/** How a run ended, and why; `complete` has no reason. */
export interface End {
  state: 'complete' | 'aborted' | 'stopped' | 'timeout' | 'lost';
  reason: string | null;
}

/**
 * A guard that had to end the process has stopped it, and not lost it: a cudaMalloc of 70 GB takes seconds, cannot be cut
 * short, and holds on to what it has until the process is gone.
 */
export function endOf(run: Omit<ProbeRun<{ stop: Stop | null }>, 'settled'>): End {
  const { end, guard, header, reason, result } = run;
  if (end === 'done') {
    const stop = result?.stop ?? null;
    if (stop === null) return { state: 'complete', reason: null };
    return { state: stop.cause === 'guard' ? 'stopped' : stop.cause, reason: stop.reason };
  }
  if (guard === null || guard.reason === 'parent') return { state: end, reason };
  const seen = { reason: guard.reason, available: guard.memAvailable, pressureFull: guard.pressureFull };
  const words = guardSentence(seen, { floor: header.floor?.bytes ?? null, pressureFull: null });
  const left = guard.left ? '; what was being allocated could not be freed in time, and the process left' : '';
  return { state: 'stopped', reason: `${words}${left}` };
}
