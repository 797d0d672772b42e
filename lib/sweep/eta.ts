/** How long a sweep will still take, by what its steps took so far. */

import type { AllocatorKind } from '../types/index.ts';
import type { PlannedSize } from './protocol.ts';

export class Eta {
  /** Bytes and real milliseconds of the steps that allocated, by kind: these differ by a factor of a thousand. */
  readonly #seen = new Map<AllocatorKind, { bytes: number; ms: number }>();
  readonly #now: () => number;
  #since: number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#since = now();
  }

  /** A step begins now. */
  begin(): void {
    this.#since = this.#now();
  }

  /** It ended; `allocated`: it was made and not only refused. */
  end({ bytes, kind }: PlannedSize, allocated: boolean): void {
    if (!allocated) return;
    const sum = this.#seen.get(kind) ?? { bytes: 0, ms: 0 };
    this.#seen.set(kind, { bytes: sum.bytes + bytes, ms: sum.ms + this.#now() - this.#since });
  }

  /**
   * Real milliseconds for these steps. A kind of which nothing was measured yet is taken to be as fast as the others were.
   * null: nothing was measured at all.
   */
  expected(rest: readonly PlannedSize[]): number | null {
    const left = rest.filter(({ refusal }) => refusal === null);
    if (left.length === 0) return 0;
    if (this.#seen.size === 0) return null;
    const all = { bytes: 0, ms: 0 };
    for (const { bytes, ms } of this.#seen.values()) {
      all.bytes += bytes;
      all.ms += ms;
    }
    return left.reduce((sum, { bytes, kind }) => {
      const rate = this.#seen.get(kind) ?? all;
      return sum + (bytes * rate.ms) / rate.bytes;
    }, 0);
  }
}
