/** What a loop in the child process is given: the binary, the rules that it works under, and the way to the journal. */

import type { NativeAllocator, NativeBinding } from '../native/contract.ts';
import type { AllocatorKind, MemoryModel } from '../types/index.ts';

/** What the parent has decided before anything is allocated; the same for the whole run. */
export interface RunLimits {
  /** CUDA ordinal. */
  device: number;
  memoryModel: MemoryModel;
  /** MemTotal. */
  hostTotal: number;
  /** Memory that the host keeps, in bytes; null: nothing that is allocated here is taken from the host. */
  floor: number | null;
  /** PSI full avg10 (percent) at which no further step is made; null: pressure stops nothing. */
  pressureFull: number | null;
  /** Limit for one native job. */
  stepDeadlineMs: number;
  /** Simulated milliseconds per real one, by which a loop multiplies the times it measures; null on real hardware. */
  timeScale: number | null;
}

/** A step that is about to be made. */
export interface PlannedStep {
  kind: AllocatorKind;
  /** Held by this process before the step, and after it. */
  heldBytes: number;
  targetBytes: number;
  /** What the machine is expected to lose by it, where that is known better than by the size. */
  predictedCost?: number;
}

/** Why a step is not made. The sentence has the numbers. */
export interface Refusal {
  cause: 'floor' | 'pressure' | 'contiguity';
  sentence: string;
}

/** How a step that was made ended, for the journal. */
export interface StepResult {
  state: string;
  heldBytes: number;
}

/** The host as it is before a step; null: cannot be read. */
export interface HostReading {
  memFree: number | null;
  memAvailable: number | null;
  /** PSI full avg10, percent. */
  pressureFull: number | null;
  /** Free memory in blocks of 2 MiB and more, without CMA. Read only for kinds that need such blocks. */
  inLargeBlocks: number | null;
}

/** Why the loop has to come to its end. `guard`: the native thread has stopped the allocator and freed what was held. */
export interface Stop {
  cause: 'aborted' | 'timeout' | 'guard';
  reason: string;
}

/** What a loop says to its parent between steps: any plain JSON object; the parent's side of the command knows its shape. */
export type Emit<Event> = (event: Event) => void;

export interface ChildContext {
  readonly binding: NativeBinding;
  /** Open on `terms.device`. */
  readonly allocator: NativeAllocator;
  readonly limits: RunLimits;
  /** Set once the loop has to come to its end: look between any two native jobs. Costs about a microsecond. */
  stop(): Stop | null;
  /** Waits, but no longer than until there is a reason to stop. */
  pause(ms: number): Promise<void>;
  /**
   * Before each step: where pressure has come to half of its limit, waits until it has fallen below that, up to 30 s and
   * 120 s in all of a run. Reclaim of page cache for what was just allocated is pressure as well, and healthy; it is over
   * when nothing more is asked for. At the limit itself `check` refuses.
   */
  waitForLowPressure(): Promise<void>;
  reading(kind: AllocatorKind): HostReading;
  /**
   * Whether the step may be made now: MemAvailable less what it costs against the floor, pressure, blocks of 2 MiB for
   * eager kinds on unified memory. null: it may. Reads the machine again (`reading` saves that where it is fresh).
   */
  check(step: PlannedStep, reading?: HostReading): Refusal | null;
  /** Journals that the step is about to be made: on disk when this returns. Throws ERR_UMA_JOURNAL; then do not make it. */
  begin(step: PlannedStep): void;
  /** Journals how it ended; on disk with the next `begin` or with the end of the run. Each `begin` needs one. */
  finish(result: StepResult): void;
}

/**
 * A command's loop. It frees what it allocated; the process ends after it either way. It lies in a file of its own that
 * lib/worker.ts loads, and a rejection ends the run with that error.
 */
export type Loop<Request, Event, Result> = (
  context: ChildContext,
  request: Request,
  say: Emit<Event>,
) => Promise<Result>;
