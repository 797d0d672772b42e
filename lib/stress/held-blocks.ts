/** Blocks that the loop holds, and the time that the allocator took for them. */

import { errorCode, type Fact, type Failure, toUmaError } from '../base/errors.ts';
import { isFailure } from '../base/facts.ts';
import { isEager } from '../memory/kinds.ts';
import type { ChildContext } from '../probe/context.ts';
import type { AllocatorKind } from '../types/index.ts';

export interface Taken {
  allocMs: number | null;
  touchMs: number | null;
  /** What refused; null: nothing did. */
  failure: Failure | null;
}

export type Verified = { bytes: number; mismatches: number; firstMismatch: number | null };

export class HeldBlocks {
  /** In simulated milliseconds on a simulated machine. */
  cudaMs = 0;
  readonly #blocks: { id: number; bytes: number; seed: number }[] = [];
  readonly #context: ChildContext;
  readonly #kind: AllocatorKind;
  readonly #fill: boolean;
  #seed = 0;

  /** @param fill write every byte although the kind does not need it. */
  constructor(context: ChildContext, kind: AllocatorKind, fill: boolean) {
    this.#context = context;
    this.#kind = kind;
    this.#fill = fill || !isEager(kind);
  }

  get heldBytes(): number {
    return this.#blocks.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  async take(bytes: number): Promise<Taken> {
    const { binding, limits } = this.#context;
    const allocated = await binding.allocBlock(this.#kind, bytes, limits.stepDeadlineMs);
    if (isFailure(allocated)) return { allocMs: null, touchMs: null, failure: allocated };
    const allocMs = this.#spent(allocated.durationMs);
    const seed = ++this.#seed;
    this.#blocks.push({ id: allocated.block, bytes, seed });
    if (!this.#fill) return { allocMs, touchMs: null, failure: null };
    const touched = await binding.touchBlock(allocated.block, seed, limits.stepDeadlineMs);
    if (isFailure(touched)) {
      // Half there is not held. After a stop or a hang there is nothing to give back, or nobody to do it.
      this.#blocks.pop();
      await binding.freeBlock(allocated.block, limits.stepDeadlineMs);
      return { allocMs, touchMs: null, failure: touched };
    }
    return { allocMs, touchMs: this.#spent(touched.durationMs), failure: null };
  }

  /** Reads back all that is held; `each` is told the time of each block, in the order in which they were taken. */
  async verify(each: (verifyMs: number) => void): Promise<Fact<Verified>> {
    const { binding, stop, limits } = this.#context;
    const sum: Verified = { bytes: 0, mismatches: 0, firstMismatch: null };
    for (const { bytes, id, seed } of this.#blocks) {
      if (stop() !== null) break;
      const verified = await binding.verifyBlock(id, seed, limits.stepDeadlineMs);
      if (isFailure(verified)) return verified;
      each(this.#spent(verified.durationMs));
      if (verified.firstMismatch !== null) sum.firstMismatch ??= sum.bytes + verified.firstMismatch;
      sum.mismatches += verified.mismatches;
      sum.bytes += bytes;
    }
    return sum;
  }

  /** @throws UmaError: memory that cannot be given back ends everything. */
  async free(): Promise<void> {
    this.#blocks.length = 0;
    const freed = await this.#context.binding.freeBlocks(this.#context.limits.stepDeadlineMs);
    if (isFailure(freed)) throw toUmaError(freed);
    this.#spent(freed.durationMs);
  }

  #spent(ms: number): number {
    const shown = ms * (this.#context.limits.timeScale ?? 1);
    this.cudaMs += shown;
    return shown;
  }
}

export function ranOut(failure: Failure): boolean {
  return errorCode(failure) === 'ERR_UMA_OUT_OF_MEMORY';
}
