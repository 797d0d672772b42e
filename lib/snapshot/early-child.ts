/** A child that asks cudaMemGetInfo while this process still initializes CUDA. */

import { isFailure } from '../base/facts.ts';
import type { NativeNvmlDevice, NativeNvmlReport } from '../native/contract.ts';
import { askChild } from './child-readings.ts';
import { ADDRESSING_MODES } from './devices.ts';
import type { ChildAnswer } from './mem-get-info-child.ts';

export interface EarlyChild {
  /** null: none was started. */
  answer: Promise<ChildAnswer | null>;
  cancel(): void;
}

/**
 * Starts the child as soon as NVML, which takes 20 ms, shows that every GPU has memory of its own: CUDA takes 100 to 200
 * ms to initialize on an H200, in each process. The child itself asks no device that shares the host's memory.
 */
export function startEarlyChild(nvml: Promise<NativeNvmlReport>, deadlineMs: number): EarlyChild {
  const cancelled = new AbortController();
  const answer = nvml.then(({ devices }) =>
    devices.length > 0 && devices.every(showsOwnMemory) && !cancelled.signal.aborted
      ? askChild('own memory', deadlineMs, cancelled.signal)
      : null,
  );
  answer.catch(() => undefined); // awaited later, or cancelled
  return { answer, cancel: () => cancelled.abort() };
}

/** NVML reports memory and an address space of its own: a GPU that shares the host's memory has the mode ATS. */
function showsOwnMemory({ addressingMode, memory, processes }: NativeNvmlDevice): boolean {
  const mode = typeof addressingMode === 'number' ? ADDRESSING_MODES[addressingMode] : undefined;
  // Where this process has a context already, no child is needed.
  const ownContext = Array.isArray(processes) && processes.some(({ pid }) => pid === process.pid);
  return memory !== undefined && !isFailure(memory) && (mode === 'NONE' || mode === 'HMM') && !ownContext;
}
