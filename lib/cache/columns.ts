/** Inodes with what is cached of them, as the binary hands them over: a hundred thousand small objects would cost more than the walk. */
import { pause } from '../base/event-loop.ts';

/** dev, ino, cached, cached after. */
export const FIELDS = 4;
/** So many rows are a fraction of a millisecond; in between, others have their turn. */
const ROWS = 8192;

export class InodeColumns {
  readonly #chunks: Float64Array[] = [];
  length = 0;

  add(rows: Float64Array): void {
    if (rows.length === 0) return;
    this.#chunks.push(rows);
    this.length += rows.length / FIELDS;
  }

  /** Each row once, in pieces with a pause after each. */
  async forEach(row: (dev: number, ino: number, cached: number) => void): Promise<void> {
    let since = 0;
    for (const chunk of this.#chunks) {
      for (let at = 0; at < chunk.length; at += FIELDS) {
        row(chunk[at] as number, chunk[at + 1] as number, chunk[at + 2] as number);
        if (++since < ROWS) continue;
        since = 0;
        await pause();
      }
    }
  }
}
