/** The context that a loop is given, over the binary and the journal. */

import { MiB } from '../base/format.ts';
import { hostMemorySync } from '../host/meminfo.ts';
import type { ProcessId } from '../host/process.ts';
import { parseBuddyinfo, parsePressure } from '../host/procfs.ts';
import type { JournalWriter } from '../journal/writer.ts';
import { unpinnable } from '../memory/allocatable.ts';
import { bytesInBlocks } from '../memory/headroom.ts';
import { needsLargeBlocks } from '../memory/kinds.ts';
import type { NativeAllocator, NativeBinding } from '../native/contract.ts';
import type { ChildContext, HostReading, PlannedStep, RunLimits, StepResult, Stop } from './context.ts';
import { guardSentence } from './guard-report.ts';
import type { ChildRequest, StopRequest } from './protocol.ts';
import { stepRefusal } from './step-check.ts';

/**
 * avg10 falls to a third in 10 s once nothing stalls: of 40 % 5 are left after 21. A machine that is in danger does not
 * recover by itself, and is not asked for more meanwhile.
 */
const CALM_MS = 30_000;
/** All the waiting of a run: a machine that others keep at such a pressure is not waited for at each step. */
const CALM_IN_ALL_MS = 120_000;
const CALM_LOOK_MS = 250;
/** Of the limit: the step's own share must not bring it back over. */
const CALM_BELOW = 0.5;

export interface ContextParts {
  binding: NativeBinding;
  allocator: NativeAllocator;
  limits: RunLimits;
  run: NonNullable<ChildRequest['journal']>['run'] | null;
  writer: JournalWriter | null;
  self: ProcessId;
}

/** The context, and the parent's handle to stop it. */
export function childContext(parts: ContextParts): { context: ChildContext; order(what: StopRequest): void } {
  const { allocator, binding, limits } = parts;
  let ordered: Stop | null = null;
  let wake: (() => void) | null = null;
  let calmLeftMs = CALM_IN_ALL_MS;

  function stop(): Stop | null {
    const { trip } = binding.guardRead();
    // The guard first: after it nothing is held any more, whatever the caller wanted.
    if (trip !== null) return { cause: 'guard', reason: guardSentence(trip, limits) };
    return ordered;
  }

  function reading(kind: PlannedStep['kind']): HostReading {
    return readHost(binding, needsLargeBlocks(kind, limits.memoryModel));
  }

  const context: ChildContext = {
    binding,
    allocator,
    limits,
    stop,
    reading,
    async pause(ms) {
      const until = performance.now() + ms;
      // The guard's thread cannot wake this one: it is asked every 20 ms.
      for (let left = ms; left > 0 && stop() === null; left = until - performance.now()) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          setTimeout(resolve, Math.min(left, 20));
        });
      }
      wake = null;
    },
    async waitForLowPressure() {
      const { pressureFull, timeScale } = limits;
      if (pressureFull === null) return;
      const scale = timeScale ?? 1;
      const started = performance.now();
      const until = started + Math.min(CALM_MS, calmLeftMs) / scale;
      const high = () => (readPressureFull(binding) ?? 0) >= pressureFull * CALM_BELOW;
      while (stop() === null && performance.now() < until && high()) await context.pause(CALM_LOOK_MS / scale);
      calmLeftMs -= (performance.now() - started) * scale;
    },
    check: (step, fresh = reading(step.kind)) => stepRefusal(limits, fresh, step),
    begin({ heldBytes, kind, targetBytes }) {
      const { run, self, writer } = parts;
      if (run === null) return;
      const at = new Date().toISOString();
      writer?.commit({ type: 'step', ...run, at, ...self, kind, heldBytes, targetBytes });
    },
    finish({ heldBytes, state }: StepResult) {
      const { run, writer } = parts;
      if (run === null) return;
      writer?.append({ type: 'result', ...run, at: new Date().toISOString(), state, heldBytes });
    },
  };
  return {
    context,
    order(what) {
      ordered ??= { cause: what, reason: what === 'aborted' ? 'aborted by the caller' : 'its time was over' };
      wake?.();
    },
  };
}

const PRESSURE = '/proc/pressure/memory';

const BUDDYINFO = '/proc/buddyinfo';

/** PSI full avg10, percent; null: cannot be read. */
export function readPressureFull(binding: NativeBinding): number | null {
  const [text] = binding.readFiles([PRESSURE]);
  return typeof text === 'string' ? (parsePressure(text)?.full.avg10 ?? null) : null;
}

/** @param blocks whether blocks of 2 MiB matter; else their file is not read. */
export function readHost(binding: NativeBinding, blocks: boolean): HostReading {
  const pressureFull = readPressureFull(binding);
  const [buddyinfo] = blocks ? binding.readFiles([BUDDYINFO]) : [];
  // Last, because it is what the floor is held against and should be the freshest.
  const host = hostMemorySync();
  const counted = typeof buddyinfo === 'string' ? parseBuddyinfo(buddyinfo, binding.pageSize()) : null;
  return {
    memFree: host.free,
    memAvailable: host.available,
    pressureFull,
    inLargeBlocks: counted === null ? null : Math.max(0, bytesInBlocks(counted.blocks, 2 * MiB) - unpinnable(host).now),
  };
}
