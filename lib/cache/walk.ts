/** Walks files and trees with the binary, slice by slice, so that progress is told and a cancel is heard. */
import { toUmaError } from '../base/errors.ts';
import { isFailure } from '../base/facts.ts';
import type { NativeBinding, NativeWalkBatch, NativeWalkOptions } from '../native/contract.ts';
import type { CacheProgress } from '../types/index.ts';

/** A slice is long enough that its round trip (15 µs) is nothing, and short enough for a cancel. */
const SLICE_MS = 50;
/** One directory on a dead network share can hold a slice up. */
const SLICE_LIMIT_MS = 60_000;

export interface WalkHooks {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: CacheProgress) => void) | undefined;
  /** Asked after each slice: true ends the walk early. */
  enough?: (() => boolean) | undefined;
}

export interface Walked {
  /** The sums of the last slice. null: it ended before the first. */
  last: NativeWalkBatch | null;
  /** False: the signal or `enough` ended it early. */
  complete: boolean;
}

/** @throws UmaError when the walk itself fails; what fails on its way is an entry. */
export async function walk(
  binding: NativeBinding,
  paths: readonly string[],
  options: NativeWalkOptions,
  hooks: WalkHooks,
  onBatch: (batch: NativeWalkBatch) => void,
): Promise<Walked> {
  const { signal, onProgress, enough } = hooks;
  const id = binding.cacheWalk([...paths], options);
  if (isFailure(id)) throw toUmaError(id);
  let last: NativeWalkBatch | null = null;
  try {
    while (signal?.aborted !== true) {
      const batch = await binding.cacheNext(id, SLICE_MS, SLICE_LIMIT_MS);
      if (isFailure(batch)) throw toUmaError(batch);
      last = batch;
      onBatch(batch);
      onProgress?.({ files: batch.files, bytes: batch.bytes, path: batch.path });
      if (batch.done) return { last, complete: true };
      if (enough?.() === true) break;
    }
    return { last, complete: false };
  } finally {
    binding.cacheEnd(id);
  }
}
