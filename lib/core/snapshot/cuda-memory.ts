/** cudaMemGetInfo of one device: read here or in a child, failed, or not tried. */

import type { Failure } from '../../base/errors.ts';
import { isFailure, reason } from '../../base/facts.ts';
import type { MemGetInfo, Snapshot } from '../../types/index.ts';
import type { ViewFacts } from '../memory/views.ts';
import type { NativeCudaReport } from '../native/contract.ts';
import type { ChildReadings } from './child-readings.ts';
import type { DevicePair } from './pairs.ts';

export interface CudaMemory {
  memory: MemGetInfo | null;
  /** The call, or why there is no reading. */
  from: string;
  state: ViewFacts['cudaState'];
  /** The failed call of a state `failed` or `silent`. */
  failure: Failure | null;
}

/** The readings of the whole machine that decide. */
export interface MemoryReadings {
  cuda: Pick<NativeCudaReport, 'timedOut'>;
  libraries: Pick<Snapshot['libraries'], 'cuda'>;
  /** cudaMemGetInfo from a child process; null: none was considered. */
  child: ChildReadings | null;
}

/** @param absent why CUDA in this process does not list the device. */
export function cudaMemory({ cuda: device, hidden }: DevicePair, context: MemoryReadings, absent: string): CudaMemory {
  if (hidden === true) return nothing('skipped', `not asked: ${absent}`);
  // A device that CUDA does not list although it works is not listed in this process only.
  if (device === null) return nothing(context.libraries.cuda.state === 'loaded' ? 'skipped' : 'missing', absent);
  const { contextActive, memGetInfo, ordinal } = device;
  if (isFailure(memGetInfo)) return failed(memGetInfo);
  if (memGetInfo !== undefined)
    return read({ free: memGetInfo[0], total: memGetInfo[1] }, 'cudaMemGetInfo in this process');
  if (context.cuda.timedOut !== null) return failed(context.cuda.timedOut);
  const answer = context.child?.answers.get(ordinal ?? -1) ?? context.child?.missing ?? NOT_READ;
  if (isFailure(answer)) return failed(answer);
  if (typeof answer !== 'string') return read(answer, answer.from);
  // The memory was not asked for, but a device that does not even say whether it has a context has failed.
  if (isFailure(contextActive) && contextActive.name !== 'SYMBOL_MISSING') return failed(contextActive);
  return nothing('skipped', answer);
}

const NOT_READ =
  'not read: it needs a CUDA context and this process has none (memGetInfo: child or inProcess reads it)';

function read({ free, total }: MemGetInfo, from: string): CudaMemory {
  return { memory: { free, total }, from, state: 'ok', failure: null };
}

function failed(failure: Failure): CudaMemory {
  const state = failure.name === 'TIMEOUT' ? 'timeout' : 'failed';
  return { memory: null, from: reason(failure), state, failure };
}

function nothing(state: 'skipped' | 'missing', from: string): CudaMemory {
  return { memory: null, from, state, failure: null };
}
