/** Walks files and trees with the native binding, in time slices that allow progress and cancellation. */

import { toUmaError } from '../base/errors.ts';
import { isFailure } from '../base/facts.ts';
import type { NativeBinding, NativeWalkBatch, NativeWalkOptions } from '../native/contract.ts';
import type { CacheProgress } from '../types/index.ts';

/** Long against the round trip of a slice (15 µs), short enough for a cancel. */
const SLICE_MS = 50;
/** A directory on an unreachable network share can block a slice. */
const SLICE_LIMIT_MS = 60_000;

export interface WalkHooks {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: CacheProgress) => void) | undefined;
  /** Called after each slice: true ends the walk early. */
  enough?: (() => boolean) | undefined;
}

export interface WalkResult {
  /** The last slice, which has the sums; null: the walk ended before the first. */
  last: NativeWalkBatch | null;
  /** false: the signal or `enough` ended the walk early. */
  complete: boolean;
}

/** @throws UmaError if the walk itself fails. A failure at a single file is an entry of a batch. */
export async function walk(
  binding: NativeBinding,
  paths: readonly string[],
  options: NativeWalkOptions,
  hooks: WalkHooks,
  onBatch: (batch: NativeWalkBatch) => void,
): Promise<WalkResult> {
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
