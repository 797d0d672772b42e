/** Inodes in the flat arrays that the native binding takes and returns. */

import { inBatches, yieldToEventLoop } from '../../base/event-loop.ts';

/** A file's identity. It outlives the file's name: pages can stay cached after an unlink. */
export interface Inode {
  dev: number;
  ino: number;
}

/** Batch size: copying 10,000 pairs takes a fraction of 1 ms. */
const PAIRS_PER_BATCH = 10_000;

/** Pairs of dev, ino. */
export async function inodePairs(files: readonly Inode[]): Promise<Float64Array> {
  const pairs = new Float64Array(files.length * 2);
  await inBatches(files, PAIRS_PER_BATCH, ({ dev, ino }, index) => {
    pairs[index * 2] = dev;
    pairs[index * 2 + 1] = ino;
  });
  return pairs;
}

/** Fields of a row: dev, ino, cached bytes, cached bytes after an eviction. */
const ROW_FIELDS = 4;

/** Batch size: 8,192 rows take a fraction of 1 ms; then the event loop runs. */
const ROWS_PER_BATCH = 8192;

/** The inodes of a walk, kept as the binary's arrays: an object for each of 100,000 files would cost too much. */
export class InodeRows {
  readonly #chunks: Float64Array[] = [];
  length = 0;

  add(rows: Float64Array): void {
    if (rows.length === 0) return;
    this.#chunks.push(rows);
    this.length += rows.length / ROW_FIELDS;
  }

  /** Calls `onRow` once for each row, in batches. */
  async forEach(onRow: (dev: number, ino: number, cached: number) => void): Promise<void> {
    let inBatch = 0;
    for (const chunk of this.#chunks) {
      for (let at = 0; at < chunk.length; at += ROW_FIELDS) {
        onRow(chunk[at] as number, chunk[at + 1] as number, chunk[at + 2] as number);
        if (++inBatch < ROWS_PER_BATCH) continue;
        inBatch = 0;
        await yieldToEventLoop();
      }
    }
  }
}
