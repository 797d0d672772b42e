/** The loop of a stress test in the child process: reads the machine, makes the planned step, reports it. */

import { type Failure, toUmaError } from '../../base/errors.ts';
import { isFailure, reason } from '../../base/facts.ts';
import { MiB } from '../../base/format.ts';
import type { StressStep } from '../../types/index.ts';
import type { ChildContext, Emit, HostReading, Loop, PlannedStep } from '../probe/context.ts';
import { costsHost, headroomFor, progress } from './headroom.ts';
import { HeldBlocks, isOutOfMemory } from './held-blocks.ts';
import {
  allocatorOutcome,
  deviceOutcome,
  failureOutcome,
  mismatchOutcome,
  reallocationRefused,
  refusalOutcome,
  type StressOutcome,
  stopOutcome,
} from './outcome.ts';
import type { StressMessage, StressRequest, StressResult } from './protocol.ts';
import { type Bounds, type Headroom, initialState, next, type SearchEnd, update } from './search.ts';

const FIRST_BYTES = 256 * MiB;

/** States in which the search has found its answer and still holds it. */
const FOUND_STATES: readonly StressOutcome['state'][] = ['limit', 'out-of-memory', 'share', 'floor', 'contiguity'];

export const loop: Loop<StressRequest, StressMessage, StressResult> = async (context, request, emit) => {
  // An unsupported kind or verification is refused before anything is allocated.
  const { kernel, kinds } = context.allocator;
  const unsupported = [kinds[request.kind], ...(request.verify ? [kernel] : [])].find(isFailure);
  if (unsupported !== undefined) throw toUmaError(unsupported);
  const run = new StressRun(context, request, emit);
  return run.result(await run.verifyAndHold(await run.search()));
};

class StressRun {
  readonly #context: ChildContext;
  readonly #request: StressRequest;
  readonly #emit: Emit<StressMessage>;
  readonly #bounds: Bounds;
  readonly #blocks: HeldBlocks;
  readonly #steps: StressStep[] = [];
  readonly #startedAt = performance.now();
  #search: ReturnType<typeof initialState>;
  #verified: StressResult['verified'] = null;
  #holdMs = 0;
  /** The allocator's last refusal. */
  #lastFailure: Failure | null = null;
  /** `single` mode, driver with pools: freed bytes that MemAvailable lacks but the next block can use. */
  #pooledBytes = 0;

  constructor(context: ChildContext, request: StressRequest, emit: Emit<StressMessage>) {
    const { ceiling, chunkBytes, kind, mode, resolutionBytes, verify } = request;
    this.#context = context;
    this.#request = request;
    this.#emit = emit;
    this.#bounds = { mode, chunkBytes, resolutionBytes, firstBytes: FIRST_BYTES, ceilingBytes: ceiling?.bytes ?? null };
    this.#search = initialState(this.#bounds);
    this.#blocks = new HeldBlocks(context, kind, verify);
  }

  /** Makes steps until the search ends or the run must stop. */
  async search(): Promise<StressOutcome> {
    for (;;) {
      await this.#context.waitForLowPressure();
      const stopped = this.#stopped();
      if (stopped !== null) return stopped;
      const reading = this.#context.reading(this.#request.kind);
      const headroom = await headroomFor(this.#context, this.#request.kind, reading, {
        pooledBytes: this.#pooledBytes,
        shareBytes: this.#request.shareBytes,
      });
      const move = next(this.#search, this.#bounds, headroom);
      if ('end' in move) return this.#endOutcome(move.end, move.leastBytes, reading, headroom);
      const outcome = await this.#makeStep(move.bytes, move.predictedCost, reading, headroom);
      if (outcome !== null) return outcome;
    }
  }

  /** Checks, journals, makes and reports one step, and updates the search; null: the search goes on. */
  async #makeStep(
    bytes: number,
    predictedCost: number,
    before: HostReading,
    headroom: Headroom,
  ): Promise<StressOutcome | null> {
    const { kind } = this.#request;
    const planned = this.#plan(bytes, predictedCost);
    const refusal = this.#context.check(planned, before);
    if (refusal !== null) return refusalOutcome(refusal);
    const unrecorded = this.#context.begin(planned);
    if (unrecorded !== null) return stopOutcome(unrecorded, null);
    const { allocMs, failure, touchMs } = await this.#blocks.allocate(bytes);
    const isHung = failure?.name === 'TIMEOUT';
    const after = isHung ? null : this.#context.reading(kind);
    const state = stepState(failure);
    const cost = state === 'ok' && after !== null ? hostCost(before, after) : null;
    if (state === 'ok' || state === 'out-of-memory') {
      const knownCost = this.#costsHost() ? cost : null;
      this.#search = update(this.#search, this.#bounds, bytes, { state, cost: knownCost, headroom });
    }
    if (state === 'out-of-memory') this.#lastFailure = failure;
    const heldBytes = state === 'ok' ? planned.targetBytes : planned.heldBytes;
    // A hung call may still allocate: its step stays open in the journal.
    if (!isHung) this.#context.finish({ state, heldBytes });
    this.#report(headroom, planned.heldBytes, {
      requestedBytes: bytes,
      heldBytes,
      predictedCost,
      cost,
      state,
      reason: failure === null ? null : reason(failure),
      allocMs,
      touchMs,
      verifyMs: null,
      memAvailable: after?.memAvailable ?? null,
      pressureFull: after?.pressureFull ?? null,
    });
    if (failure !== null && state === 'failed') return failureOutcome(failure);
    if (this.#request.mode === 'single') await this.#freeBlock(after, bytes);
    return null;
  }

  /** Frees a block in `single` mode before the next try, which would otherwise be allocated in addition to it. */
  async #freeBlock(held: HostReading | null, bytes: number): Promise<void> {
    if (this.#stopped() !== null) return; // the guard has freed it, or the process is about to exit
    await this.#blocks.free();
    if (!this.#request.pools) return;
    const now = this.#context.reading(this.#request.kind);
    const returnedBytes = (now.memAvailable ?? 0) - (held?.memAvailable ?? 0);
    this.#pooledBytes = Math.max(0, Math.min(bytes, bytes - returnedBytes));
  }

  #plan(bytes: number, predictedCost: number): PlannedStep {
    const { kind } = this.#request;
    const { heldBytes } = this.#search;
    const cost = this.#costsHost() ? Math.max(0, predictedCost - this.#pooledBytes) : 0;
    return { kind, heldBytes, targetBytes: heldBytes + bytes, predictedCost: cost };
  }

  #costsHost(): boolean {
    return costsHost(this.#request.kind, this.#context.limits.memoryModel);
  }

  #stopped(): StressOutcome | null {
    const stop = this.#context.stop();
    return stop === null ? null : stopOutcome(stop, this.#context.binding.guardRead().trip);
  }

  #report(headroom: Headroom, heldBefore: number, step: StressStep): void {
    this.#steps.push(step);
    const elapsedMs = performance.now() - this.#startedAt;
    this.#emit({ step, progress: progress(this.#search, this.#bounds, headroom, heldBefore, elapsedMs) });
  }

  #endOutcome(end: SearchEnd, leastBytes: number, reading: HostReading, headroom: Headroom): StressOutcome {
    switch (end) {
      case 'limit':
        return { state: 'limit', boundBy: this.#request.ceiling?.reason ?? 'the largest possible size was reached' };
      case 'device':
        return deviceOutcome(headroom, leastBytes, this.#request.shareBytes);
      case 'out-of-memory': {
        const { bestBytes, heldBytes } = this.#search;
        const refusedBytes = this.#search.refusedBytes ?? bestBytes + this.#bounds.resolutionBytes;
        const refusal = { mode: this.#bounds.mode, refusedBytes, bestBytes, heldBytes, failure: this.#lastFailure };
        return allocatorOutcome(refusal, reading, this.#context.limits.floor);
      }
      case 'floor':
      case 'contiguity': {
        const cost = Math.ceil(leastBytes * this.#search.costPerByte);
        const refusal = this.#context.check(this.#plan(leastBytes, cost), reading);
        return refusalOutcome(
          refusal ?? { cause: end, sentence: 'the next step would take memory that the host must keep' },
        );
      }
    }
  }

  /** Verifies and holds the found bytes, as far as requested. A failed search holds nothing. */
  async verifyAndHold(found: StressOutcome): Promise<StressOutcome> {
    const { holdMs, mode, verify } = this.#request;
    const isRequested = verify || holdMs > 0;
    if (!FOUND_STATES.includes(found.state) || this.#search.bestBytes === 0 || !isRequested) return found;
    const failed = mode === 'single' ? await this.#reallocate(found) : null;
    if (failed !== null) return failed;
    const { heldBytes } = this.#blocks;
    const unrecorded = this.#context.begin({ kind: this.#request.kind, heldBytes, targetBytes: heldBytes });
    if (unrecorded !== null) return stopOutcome(unrecorded, null);
    const outcome = (await this.#verify(found)) ?? (await this.#hold()) ?? found;
    if (outcome.state !== 'timeout') this.#context.finish({ state: outcome.state, heldBytes });
    return outcome;
  }

  /**
   * The largest block was freed after its try in `single` mode. Allocating it again is a step like any other, because
   * the machine may have less memory by now. null: it is held.
   */
  async #reallocate(found: StressOutcome): Promise<StressOutcome | null> {
    const bytes = this.#search.bestBytes;
    await this.#context.waitForLowPressure();
    const planned = this.#plan(bytes, Math.ceil(bytes * this.#search.costPerByte));
    const stopped = this.#stopped();
    if (stopped !== null) return stopped;
    const refusal = this.#context.check(planned);
    if (refusal !== null) return reallocationRefused(found, refusal);
    const unrecorded = this.#context.begin(planned);
    if (unrecorded !== null) return stopOutcome(unrecorded, null);
    const { failure } = await this.#blocks.allocate(bytes);
    const isHung = failure?.name === 'TIMEOUT';
    if (!isHung) this.#context.finish({ state: stepState(failure), heldBytes: failure === null ? bytes : 0 });
    return failure === null ? null : (this.#stopped() ?? failureOutcome(failure));
  }

  /** null: no mismatch, or verification was not requested. */
  async #verify(found: StressOutcome): Promise<StressOutcome | null> {
    if (!this.#request.verify) return null;
    const okSteps = this.#steps.filter(({ state }) => state === 'ok');
    const verifiedSteps = this.#request.mode === 'single' ? okSteps.slice(-1) : okSteps;
    const verified = await this.#blocks.verify((verifyMs) => {
      const step = verifiedSteps.shift();
      if (step !== undefined) step.verifyMs = verifyMs;
    });
    const stopped = this.#stopped();
    if (stopped !== null) return stopped;
    if (isFailure(verified)) return failureOutcome(verified);
    this.#verified = verified;
    return verified.mismatches === 0 ? null : mismatchOutcome(found, verified);
  }

  /** null: held for the whole time. */
  async #hold(): Promise<StressOutcome | null> {
    const started = performance.now();
    const scale = this.#context.limits.timeScale ?? 1;
    await this.#context.pause(this.#request.holdMs / scale);
    this.#holdMs = (performance.now() - started) * scale;
    return this.#stopped();
  }

  result({ boundBy, state }: StressOutcome): StressResult {
    return {
      state,
      boundBy,
      maxBytes: this.#search.bestBytes,
      verified: this.#verified,
      holdMs: this.#holdMs,
      cudaMs: this.#blocks.cudaMs,
      steps: this.#steps,
    };
  }
}

function stepState(failure: Failure | null): StressStep['state'] {
  if (failure === null) return 'ok';
  if (failure.name === 'STOPPED') return 'stopped';
  return isOutOfMemory(failure) ? 'out-of-memory' : 'failed';
}

/** Fall of MemAvailable; null: cannot be read. */
function hostCost(before: HostReading, after: HostReading): number | null {
  return before.memAvailable === null || after.memAvailable === null ? null : before.memAvailable - after.memAvailable;
}
