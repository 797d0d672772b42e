/** The search in the child: reads the machine, makes the planned step, learns from it. */

import { type Failure, toUmaError, UmaError } from '../base/errors.ts';
import { isFailure, reason } from '../base/facts.ts';
import type { ChildContext, Emit, HostReading, Loop, PlannedStep } from '../probe/context.ts';
import type { StressStep } from '../types/index.ts';
import { costsHost, headroomFor, progress } from './headroom.ts';
import { HeldBlocks, ranOut } from './held-blocks.ts';
import {
  deviceOutcome,
  failureOutcome,
  type Outcome,
  type Refused,
  refusalOutcome,
  refusedAgain,
  refusedOutcome,
  stopOutcome,
  wrongBytes,
} from './outcome.ts';
import type { StressEvent, StressRequest, StressResult } from './protocol.ts';
import { type Bounds, type Headroom, initialState, next, type SearchEnd, update } from './search.ts';

const FIRST_BYTES = 256 * 2 ** 20;

export const loop: Loop<StressRequest, StressEvent, StressResult> = async (context, request, say) => {
  // Refused before anything is allocated: the caller asked for what this device does not have.
  const { kernel, kinds } = context.allocator;
  const needed = [kinds[request.kind], ...(request.verify ? [kernel] : [])].find(isFailure);
  if (needed !== undefined) throw toUmaError(needed);
  const run = new StressRun(context, request, say);
  return run.result(await searched(run).catch(journalEnding));
};

async function searched(run: StressRun): Promise<Outcome> {
  return run.keep(await run.search());
}

/** A journal that can be kept no longer, its disk being full, ends the search with what was found until then. */
function journalEnding(error: unknown): Outcome {
  if (error instanceof UmaError && error.code === 'ERR_UMA_JOURNAL') return { state: 'failed', boundBy: error.message };
  throw error;
}

class StressRun {
  readonly #context: ChildContext;
  readonly #request: StressRequest;
  readonly #say: Emit<StressEvent>;
  readonly #bounds: Bounds;
  readonly #holder: HeldBlocks;
  readonly #steps: StressStep[] = [];
  readonly #began = performance.now();
  #search: ReturnType<typeof initialState>;
  #verified: StressResult['verified'] = null;
  #heldMs = 0;
  /** The allocator's last refusal. */
  #refused: Failure | null = null;
  /** `single` on a driver with pools: what was freed, is not in MemAvailable, and the next block gets all the same. */
  #pooled = 0;

  constructor(context: ChildContext, request: StressRequest, say: Emit<StressEvent>) {
    const { ceiling, chunkBytes, kind, mode, resolutionBytes, verify } = request;
    this.#context = context;
    this.#request = request;
    this.#say = say;
    this.#bounds = { mode, chunkBytes, resolutionBytes, firstBytes: FIRST_BYTES, ceilingBytes: ceiling?.bytes ?? null };
    this.#search = initialState(this.#bounds);
    this.#holder = new HeldBlocks(context, kind, verify);
  }

  /** Steps until there is a reason to end. */
  async search(): Promise<Outcome> {
    for (;;) {
      await this.#context.waitForLowPressure();
      const stopped = this.#stopped();
      if (stopped !== null) return stopped;
      const reading = this.#context.reading(this.#request.kind);
      const room = await headroomFor(this.#context, this.#request.kind, reading, this.#pooled);
      const move = next(this.#search, this.#bounds, room);
      if ('end' in move) return this.#ending(move.end, move.nextBytes, reading, room);
      const ended = await this.#make(move.bytes, move.predictedCost, reading, room);
      if (ended !== null) return ended;
    }
  }

  /** One step: checked, journalled, made, learnt from, told. */
  async #make(bytes: number, predictedCost: number, before: HostReading, room: Headroom): Promise<Outcome | null> {
    const { kind } = this.#request;
    const planned = this.#planned(bytes, predictedCost);
    const refusal = this.#context.check(planned, before);
    if (refusal !== null) return refusalOutcome(refusal);
    this.#context.begin(planned);
    const taken = await this.#holder.take(bytes);
    const { failure } = taken;
    // What a call that hangs will still do is not known: its step stays open in the journal.
    const hangs = failure?.name === 'TIMEOUT';
    const after = hangs ? null : this.#context.reading(kind);
    const state = stateOf(failure);
    const cost = state === 'ok' && after !== null ? costOf(before, after) : null;
    if (state === 'ok' || state === 'out-of-memory') {
      const known = costsHost(kind, this.#context.limits) ? cost : null;
      this.#search = update(this.#search, this.#bounds, bytes, { state, cost: known, room });
    }
    if (state === 'out-of-memory') this.#refused = failure;
    if (!hangs) this.#context.finish({ state, heldBytes: state === 'ok' ? planned.targetBytes : planned.heldBytes });
    const { allocMs, touchMs } = taken;
    this.#tell(room, planned.heldBytes, {
      requestedBytes: bytes,
      heldBytes: state === 'ok' ? planned.targetBytes : planned.heldBytes,
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
    if (this.#request.mode === 'single') await this.#letGo(after, bytes);
    return null;
  }

  /** In `single` mode a block is freed before the next try, which would else lie on top of it. */
  async #letGo(held: HostReading | null, bytes: number): Promise<void> {
    if (this.#stopped() !== null) return; // the guard has freed it, or the process ends
    await this.#holder.free();
    if (!this.#request.pools) return;
    const now = this.#context.reading(this.#request.kind);
    const cameBack = (now.memAvailable ?? 0) - (held?.memAvailable ?? 0);
    this.#pooled = Math.max(0, Math.min(bytes, bytes - cameBack));
  }

  #planned(bytes: number, predictedCost: number): PlannedStep {
    const { kind } = this.#request;
    const { heldBytes } = this.#search;
    const cost = costsHost(kind, this.#context.limits) ? Math.max(0, predictedCost - this.#pooled) : 0;
    return { kind, heldBytes, targetBytes: heldBytes + bytes, predictedCost: cost };
  }

  #stopped(): Outcome | null {
    const stop = this.#context.stop();
    return stop === null ? null : stopOutcome(stop, this.#context.binding.guardRead().trip);
  }

  #tell(room: Headroom, heldBefore: number, step: StressStep): void {
    this.#steps.push(step);
    const elapsedMs = performance.now() - this.#began;
    this.#say({ step, progress: progress(this.#search, this.#bounds, room, heldBefore, elapsedMs) });
  }

  #lastRefused(): Refused {
    const { bestBytes, heldBytes, refusedBytes } = this.#search;
    const smallest = refusedBytes ?? bestBytes + this.#bounds.resolutionBytes;
    return { mode: this.#bounds.mode, refusedBytes: smallest, bestBytes, heldBytes, failure: this.#refused };
  }

  #ending(end: SearchEnd, nextBytes: number, reading: HostReading, room: Headroom): Outcome {
    switch (end) {
      case 'limit':
        return { state: 'limit', boundBy: this.#request.ceiling?.reason ?? 'the largest size there is' };
      case 'device':
        return deviceOutcome(room, nextBytes);
      case 'out-of-memory':
        return refusedOutcome(this.#lastRefused(), reading, this.#context.limits.floor);
      case 'floor':
      case 'contiguity': {
        const cost = Math.ceil(nextBytes * this.#search.costPerByte);
        const refusal = this.#context.check(this.#planned(nextBytes, cost), reading);
        return refusalOutcome(
          refusal ?? { cause: end, sentence: `the next step would not leave the host what it keeps` },
        );
      }
    }
  }

  /** What was found, verified and held as asked; where the search has failed there is nothing to hold. */
  async keep(found: Outcome): Promise<Outcome> {
    const { holdMs, mode, verify } = this.#request;
    if (!KEEPS.includes(found.state) || this.#search.bestBytes === 0 || (!verify && holdMs === 0)) return found;
    const unable = mode === 'single' ? await this.#takeAgain(found) : null;
    if (unable !== null) return unable;
    const heldBytes = this.#holder.heldBytes;
    this.#context.begin({ kind: this.#request.kind, heldBytes, targetBytes: heldBytes });
    const kept = (await this.#verify(found)) ?? (await this.#hold()) ?? found;
    if (kept.state !== 'timeout') this.#context.finish({ state: kept.state, heldBytes });
    return kept;
  }

  /**
   * In `single` mode the largest block was freed after its try. To take it once more is a step like any other: the
   * machine may have less by now. null: it is held.
   */
  async #takeAgain(found: Outcome): Promise<Outcome | null> {
    const bytes = this.#search.bestBytes;
    await this.#context.waitForLowPressure();
    const planned = this.#planned(bytes, Math.ceil(bytes * this.#search.costPerByte));
    const stopped = this.#stopped();
    if (stopped !== null) return stopped;
    const refusal = this.#context.check(planned);
    if (refusal !== null) return refusedAgain(found, refusal);
    this.#context.begin(planned);
    const { failure } = await this.#holder.take(bytes);
    const hangs = failure?.name === 'TIMEOUT';
    if (!hangs) this.#context.finish({ state: stateOf(failure), heldBytes: failure === null ? bytes : 0 });
    return failure === null ? null : (this.#stopped() ?? failureOutcome(failure));
  }

  /** null: nothing is wrong. */
  async #verify(found: Outcome): Promise<Outcome | null> {
    if (!this.#request.verify) return null;
    const ok = this.#steps.filter(({ state }) => state === 'ok');
    const shown = this.#request.mode === 'single' ? ok.slice(-1) : ok;
    const verified = await this.#holder.verify((verifyMs) => {
      const step = shown.shift();
      if (step !== undefined) step.verifyMs = verifyMs;
    });
    const stopped = this.#stopped();
    if (stopped !== null) return stopped;
    if (isFailure(verified)) return failureOutcome(verified);
    this.#verified = verified;
    return verified.mismatches === 0 ? null : wrongBytes(found, verified);
  }

  async #hold(): Promise<Outcome | null> {
    const started = performance.now();
    const { timeScale } = this.#context.limits;
    await this.#context.pause(this.#request.holdMs / (timeScale ?? 1));
    this.#heldMs = (performance.now() - started) * (timeScale ?? 1);
    return this.#stopped();
  }

  result({ boundBy, state }: Outcome): StressResult {
    const { bestBytes } = this.#search;
    return {
      state,
      boundBy,
      maxBytes: bestBytes,
      verified: this.#verified,
      holdMs: this.#heldMs,
      cudaMs: this.#holder.cudaMs,
      steps: this.#steps,
    };
  }
}

/** States in which the search has come to its end and holds what it found. */
const KEEPS: readonly Outcome['state'][] = ['limit', 'out-of-memory', 'floor', 'contiguity'];

function stateOf(failure: Failure | null): StressStep['state'] {
  if (failure === null) return 'ok';
  if (failure.name === 'STOPPED') return 'stopped';
  return ranOut(failure) ? 'out-of-memory' : 'failed';
}

function costOf(before: HostReading, after: HostReading): number | null {
  return before.memAvailable === null || after.memAvailable === null ? null : before.memAvailable - after.memAvailable;
}
