/** How long a sweep will still take, by what its steps took so far. */

import type { AllocatorKind } from '../types.ts';
import type { PlannedSize } from './protocol.ts';

export class Eta {
  /** Bytes and real milliseconds of the steps that allocated; kinds differ by a factor of a thousand, so each for itself. */
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

  /** Real milliseconds for these steps; null: nothing was measured yet of one of their kinds. */
  expected(rest: readonly PlannedSize[]): number | null {
    let ms = 0;
    for (const { bytes, kind, refusal } of rest) {
      if (refusal !== null) continue;
      const sum = this.#seen.get(kind);
      if (sum === undefined) return null;
      ms += (bytes * sum.ms) / sum.bytes;
    }
    return ms;
  }
}
