/** The interface between a command's loop and the child process that runs it. */

import type { AllocatorKind, MemoryModel } from '../../types/index.ts';
import type { NativeAllocator, NativeBinding } from '../native/contract.ts';

/** Limits that the parent fixes before anything is allocated; they hold for the whole run. */
export interface RunLimits {
  /** CUDA ordinal. */
  device: number;
  memoryModel: MemoryModel;
  /** MemTotal. */
  hostTotal: number;
  /** Free memory between pages that do not move, in bytes (core/memory/contiguity.ts); null: not known. */
  stuck: number | null;
  /** Bytes that must stay available on the host; null: the run takes no host memory. */
  floor: number | null;
  /** PSI full avg10 (percent) from which no further step is made; null: pressure stops nothing. */
  pressureFull: number | null;
  /** The caller's limit for one native call; null: by kind and size, see step-limit.ts. */
  stepTimeoutMs: number | null;
  /** Simulated milliseconds per real one: the factor for times that a loop measures. null on real hardware. */
  timeScale: number | null;
}

/** A step that is about to be made. */
export interface PlannedStep {
  kind: AllocatorKind;
  /** Bytes that this process holds before the step, and after it. */
  heldBytes: number;
  targetBytes: number;
  /** Host memory that the step is expected to take. Absent: the step's size. */
  predictedCost?: number;
}

/** Reason against a step or, with further causes, against a run. */
export interface Refusal<Cause extends string = 'floor' | 'pressure' | 'contiguity'> {
  cause: Cause;
  /** The numbers behind the cause, and the remedy if there is one. */
  sentence: string;
}

/** Result of a step, for the journal. */
export interface StepResult {
  state: string;
  heldBytes: number;
}

/** The host before a step; null: cannot be read. */
export interface HostReading {
  memFree: number | null;
  memAvailable: number | null;
  /** The part of `memAvailable` that GPU memory cannot use (CMA), in bytes. */
  unpinnable: number;
  /** PSI full avg10, percent. */
  pressureFull: number | null;
  /** Free memory in blocks of 2 MiB or more, without CMA. Read only for kinds that need such blocks. */
  inLargeBlocks: number | null;
  /** Free memory that compaction cannot join to such blocks, as the parent read it at the start; null: not known. */
  stuck: number | null;
}

/**
 * Reason for the loop to end. `guard`: the native thread has stopped the allocator and freed all blocks. `journal`: it
 * can no longer be written, as on a full disk; the measurements stay valid.
 */
export interface Stop {
  cause: 'aborted' | 'timeout' | 'guard' | 'journal';
  reason: string;
}

/** Sends an event to the parent between steps: any plain JSON object that the parent's side of the command knows. */
export type Emit<Event> = (event: Event) => void;

export interface ChildContext {
  readonly binding: NativeBinding;
  /** Open on `limits.device`. */
  readonly allocator: NativeAllocator;
  readonly limits: RunLimits;
  /** Reason to end the loop; null: it may go on. Check it between any two native calls: it takes a microsecond. */
  stop(): Stop | null;
  /** Waits `ms`, or until there is a reason to stop. */
  pause(ms: number): Promise<void>;
  /**
   * Call before each step. Waits while pressure is above half of its limit: up to 30 s, and up to 120 s in the whole
   * run. Page cache that is reclaimed for the last allocation causes pressure as well; that is normal and ends when
   * nothing more is allocated. `check` refuses the step at the limit itself.
   */
  waitForLowPressure(): Promise<void>;
  reading(kind: AllocatorKind): HostReading;
  /**
   * Returns why the step must not be made now; null: it may. Checks the floor against MemAvailable less the step's
   * cost, pressure, and, for eager kinds on unified memory, free blocks of 2 MiB. Reads the machine unless a fresh
   * `reading` is passed.
   */
  check(step: PlannedStep, reading?: HostReading): Refusal | null;
  /**
   * Journals the step: on disk when this returns null. Otherwise the step could not be recorded and must not be made; the
   * loop ends with this stop.
   */
  begin(step: PlannedStep): Stop | null;
  /**
   * Journals the result. It reaches the disk with the next `begin` or the end of the run. Every `begin` that returned
   * null needs one.
   */
  finish(result: StepResult): void;
}

/**
 * A command's loop, in a file of its own that lib/worker.ts loads. The loop frees what it allocates, and the process
 * exits after it in any case. A rejection ends the run with that error.
 */
export type Loop<Request, Event, Result> = (
  context: ChildContext,
  request: Request,
  emit: Emit<Event>,
) => Promise<Result>;
