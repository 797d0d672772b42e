/** The blocks that the loop holds, and the total time of their native calls. */

import { errorCode, type Fact, type Failure, toUmaError } from '../../base/errors.ts';
import { isFailure } from '../../base/facts.ts';
import type { AllocatorKind } from '../../types/index.ts';
import { isEager } from '../memory/kinds.ts';
import type { ChildContext } from '../probe/context.ts';
import { stepLimitMs } from '../probe/step-limit.ts';

/** The outcome of one allocation with its touch. */
export interface BlockResult {
  allocMs: number | null;
  touchMs: number | null;
  /** null: the block is held. */
  failure: Failure | null;
}

export type Verified = { bytes: number; mismatches: number; firstMismatch: number | null };

export class HeldBlocks {
  /** The unit is simulated milliseconds on a simulated machine. */
  cudaMs = 0;
  readonly #blocks: { id: number; bytes: number; seed: number }[] = [];
  readonly #context: ChildContext;
  readonly #kind: AllocatorKind;
  readonly #fill: boolean;
  #seed = 0;

  /** @param fill write every byte, also of kinds that are allocated eagerly. */
  constructor(context: ChildContext, kind: AllocatorKind, fill: boolean) {
    this.#context = context;
    this.#kind = kind;
    this.#fill = fill || !isEager(kind);
  }

  get heldBytes(): number {
    return this.#blocks.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  async allocate(bytes: number): Promise<BlockResult> {
    const { binding } = this.#context;
    const limitMs = this.#limitMs(bytes);
    const allocated = await binding.allocBlock(this.#kind, bytes, limitMs);
    if (isFailure(allocated)) return { allocMs: null, touchMs: null, failure: allocated };
    const allocMs = this.#addTime(allocated.durationMs);
    const seed = ++this.#seed;
    this.#blocks.push({ id: allocated.block, bytes, seed });
    if (!this.#fill) return { allocMs, touchMs: null, failure: null };
    const touched = await binding.touchBlock(allocated.block, seed, limitMs);
    if (isFailure(touched)) {
      // A partly touched block does not count as held. This free may fail after a stop or a hang; that is fine.
      this.#blocks.pop();
      await binding.freeBlock(allocated.block, limitMs);
      return { allocMs, touchMs: null, failure: touched };
    }
    return { allocMs, touchMs: this.#addTime(touched.durationMs), failure: null };
  }

  /** Reads back all blocks; calls `onBlock` with the time of each one, in the order of allocation. */
  async verify(onBlock: (verifyMs: number) => void): Promise<Fact<Verified>> {
    const { binding, stop } = this.#context;
    const sum: Verified = { bytes: 0, mismatches: 0, firstMismatch: null };
    for (const { bytes, id, seed } of this.#blocks) {
      if (stop() !== null) break;
      const verified = await binding.verifyBlock(id, seed, this.#limitMs(bytes));
      if (isFailure(verified)) return verified;
      onBlock(this.#addTime(verified.durationMs));
      if (verified.firstMismatch !== null) sum.firstMismatch ??= sum.bytes + verified.firstMismatch;
      sum.mismatches += verified.mismatches;
      sum.bytes += bytes;
    }
    return sum;
  }

  /** @throws UmaError: without working frees the search cannot go on. */
  async free(): Promise<void> {
    const limitMs = this.#limitMs(this.heldBytes);
    this.#blocks.length = 0;
    const freed = await this.#context.binding.freeBlocks(limitMs);
    if (isFailure(freed)) throw toUmaError(freed);
    this.#addTime(freed.durationMs);
  }

  #limitMs(bytes: number): number {
    return stepLimitMs(this.#context.limits.stepTimeoutMs, this.#kind, bytes);
  }

  /** Adds a native call's time to `cudaMs`, and returns it in the machine's own milliseconds. */
  #addTime(realMs: number): number {
    const ms = realMs * (this.#context.limits.timeScale ?? 1);
    this.cudaMs += ms;
    return ms;
  }
}

export function isOutOfMemory(failure: Failure): boolean {
  return errorCode(failure) === 'ERR_UMA_OUT_OF_MEMORY';
}
