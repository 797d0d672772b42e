import { errorCode } from '../base/errors.ts';
import { reason } from '../base/facts.ts';
import type { NativeFailure } from '../native/contract.ts';
import type { ChildContext } from './context.ts';

/** How a native job that failed ends its step. */
export interface Ending {
  state: 'stopped' | 'out-of-memory' | 'failed';
  reason: string;
  /** The call has not come back: none of the same library will, until it does. */
  hung: boolean;
}

/** Once the guard has tripped it has freed what was held, and everything that fails from then on is its doing. */
export function endingOf(context: Pick<ChildContext, 'stop'>, failure: NativeFailure): Ending {
  const stop = context.stop();
  if (stop?.why === 'guard') return { state: 'stopped', reason: stop.reason, hung: false };
  const words = reason(failure);
  if (failure.name === 'STOPPED') return { state: 'stopped', reason: words, hung: false };
  const code = errorCode(failure);
  const state = code === 'ERR_UMA_OUT_OF_MEMORY' ? 'out-of-memory' : 'failed';
  return { state, reason: words, hung: code === 'ERR_UMA_TIMEOUT' };
}
