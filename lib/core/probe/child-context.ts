/** The context of a loop, implemented over the native binding and the journal. */

import { UmaError } from '../../base/errors.ts';
import { hostMemorySync } from '../host/meminfo.ts';
import type { ProcessId } from '../host/process.ts';
import { parseBuddyinfo, parsePressure } from '../host/procfs.ts';
import type { JournalWriter } from '../journal/writer.ts';
import { unpinnable } from '../memory/cma.ts';
import { blockUse } from '../memory/contiguity.ts';
import { needsLargeBlocks } from '../memory/kinds.ts';
import type { NativeAllocator, NativeBinding } from '../native/contract.ts';
import type { ChildContext, HostReading, PlannedStep, RunLimits, StepResult, Stop } from './context.ts';
import { guardSentence } from './guard-report.ts';
import type { ChildRequest, StopRequest } from './protocol.ts';
import { stepRefusal } from './step-check.ts';

/** Longest wait before one step: once nothing stalls, avg10 falls to a third in 10 s, and from 40 % to 5 % in 21 s. */
const PRESSURE_WAIT_MS = 30_000;
/** Longest wait in a whole run: if other programs keep the pressure up, waiting before every step does not help. */
const TOTAL_PRESSURE_WAIT_MS = 120_000;
const PRESSURE_POLL_MS = 250;
/** Share of the pressure limit to wait for: the step itself adds pressure, which must stay below the limit. */
const LOW_PRESSURE_SHARE = 0.5;
/** Poll interval of `pause`: the guard's thread cannot wake this one. */
const STOP_POLL_MS = 20;

const STOP_REASONS: Record<StopRequest, string> = {
  aborted: 'aborted by the caller',
  timeout: 'the time limit was reached',
};

export interface ContextParts {
  binding: NativeBinding;
  allocator: NativeAllocator;
  limits: RunLimits;
  run: NonNullable<ChildRequest['journal']>['run'] | null;
  writer: JournalWriter | null;
  self: ProcessId;
}

/** The context, and the function by which the parent stops its loop. */
export function childContext(parts: ContextParts): {
  context: ChildContext;
  requestStop(request: StopRequest): void;
} {
  const { allocator, binding, limits } = parts;
  let requestedStop: Stop | null = null;
  let pressureWaitLeftMs = TOTAL_PRESSURE_WAIT_MS;

  function stop(): Stop | null {
    const { trip } = binding.guardRead();
    // The guard takes precedence over the caller's request: after a trip nothing is held any more.
    if (trip !== null) return { cause: 'guard', reason: guardSentence(trip, limits) };
    return requestedStop;
  }

  /** If the journal cannot be written, the loop must end, and its measurements are worth a report. */
  function journal(write: () => void): void {
    try {
      write();
    } catch (error) {
      if (!(error instanceof UmaError && error.code === 'ERR_UMA_JOURNAL')) throw error;
      requestedStop ??= { cause: 'journal', reason: error.message };
    }
  }

  function reading(kind: PlannedStep['kind']): HostReading {
    return readHost(binding, needsLargeBlocks(kind, limits.memoryModel), limits.stuck);
  }

  const context: ChildContext = {
    binding,
    allocator,
    limits,
    stop,
    reading,
    async pause(ms) {
      const until = performance.now() + ms;
      for (let left = ms; left > 0 && stop() === null; left = until - performance.now()) {
        await new Promise((resolve) => setTimeout(resolve, Math.min(left, STOP_POLL_MS)));
      }
    },
    async waitForLowPressure() {
      const { pressureFull, timeScale } = limits;
      if (pressureFull === null) return;
      const scale = timeScale ?? 1;
      const started = performance.now();
      const until = started + Math.min(PRESSURE_WAIT_MS, pressureWaitLeftMs) / scale;
      const isHigh = () => (readPressureFull(binding) ?? 0) >= pressureFull * LOW_PRESSURE_SHARE;
      while (stop() === null && isHigh() && performance.now() < until) await context.pause(PRESSURE_POLL_MS / scale);
      pressureWaitLeftMs -= (performance.now() - started) * scale;
    },
    check: (step, fresh = reading(step.kind)) => stepRefusal(limits, fresh, step),
    begin({ heldBytes, kind, targetBytes }) {
      const { run, self, writer } = parts;
      if (run === null) return null;
      const at = new Date().toISOString();
      let isRecorded = false;
      journal(() => {
        writer?.commit({ type: 'step', ...run, at, ...self, kind, heldBytes, targetBytes });
        isRecorded = true;
      });
      return isRecorded ? null : stop();
    },
    finish({ heldBytes, state }: StepResult) {
      const { run, writer } = parts;
      if (run === null) return;
      journal(() => writer?.append({ type: 'result', ...run, at: new Date().toISOString(), state, heldBytes }));
    },
  };
  return {
    context,
    requestStop(request) {
      requestedStop ??= { cause: request, reason: STOP_REASONS[request] };
    },
  };
}

/** @param largeBlocks whether to read free blocks of 2 MiB or more. */
function readHost(binding: NativeBinding, largeBlocks: boolean, stuck: number | null): HostReading {
  const pressureFull = readPressureFull(binding);
  const [buddyinfo] = largeBlocks ? binding.readFiles(['/proc/buddyinfo']) : [];
  // Read last: it is compared with the floor and should be the freshest number.
  const host = hostMemorySync();
  const free = typeof buddyinfo === 'string' ? parseBuddyinfo(buddyinfo, binding.pageSize()) : null;
  return {
    memFree: host.free,
    memAvailable: host.available,
    unpinnable: unpinnable(host).afterReclaim,
    pressureFull,
    inLargeBlocks: free === null ? null : blockUse(host, free.blocks).large,
    stuck,
  };
}

/** PSI full avg10, percent; null: cannot be read. */
function readPressureFull(binding: NativeBinding): number | null {
  const [text] = binding.readFiles(['/proc/pressure/memory']);
  return typeof text === 'string' ? (parsePressure(text)?.full.avg10 ?? null) : null;
}
