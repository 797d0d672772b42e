/** Events to which watch calls attention: a change of the verdict, and available memory that goes below a size. */
import { formatBytes } from '../../base/format.ts';
import { headroom } from '../../core/memory/headroom.ts';
import type { Level, Snapshot } from '../../types/index.ts';

export class Alerts {
  readonly #belowBytes: number | null;
  #level: Level | null = null;
  #isBelow = false;

  /** @param belowBytes null: no size was named. */
  constructor(belowBytes: number | null) {
    this.#belowBytes = belowBytes;
  }

  /** Sentences about what has changed since the reading before; an unknown size is below none. */
  see(snapshot: Snapshot): string[] {
    const { because, level } = snapshot.judgement;
    const sentences: string[] = [];
    if (this.#level !== null && this.#level !== level)
      sentences.push(`The verdict is ${level}, and was ${this.#level}: ${because}`);
    this.#level = level;
    const available = headroom(snapshot).afterReclaim;
    const isBelow = this.#belowBytes !== null && available !== null && available < this.#belowBytes;
    if (isBelow && !this.#isBelow)
      sentences.push(`Available memory is ${formatBytes(available)}, below ${formatBytes(this.#belowBytes)}.`);
    this.#isBelow = isBelow;
    return sentences.map((sentence) => `${snapshot.at.slice(11, 19)} UTC: ${sentence}`);
  }
}
