/** Walks files and trees with the native binding, in time slices that allow progress and cancellation. */

import { type Failure, toUmaError, type UmaError } from '../../base/errors.ts';
import { isFailure } from '../../base/facts.ts';
import type { CacheEvent } from '../../types/index.ts';
import type { NativeBinding, NativeWalkBatch, NativeWalkOptions } from '../native/contract.ts';

/** Batch size: 1,000 files of a walk take about 1 ms; then the event loop runs. */
export const FILES_PER_BATCH = 1000;

/** Long against the round trip of a slice (15 µs), short enough for a cancel. */
const SLICE_MS = 50;
/** A file system that does not answer, as an unreachable network share, blocks a slice. Ten seconds are no slow disk. */
const SLICE_LIMIT_MS = 10_000;
/** A slice of `evict-sync` may write a large file to a slow disk. */
const SYNC_SLICE_LIMIT_MS = 60_000;

export interface WalkHooks {
  signal?: AbortSignal | undefined;
  onEvent?: ((event: CacheEvent) => void | Promise<void>) | undefined;
  /** Called after each slice: true ends the walk early. */
  enough?: (() => Promise<boolean>) | undefined;
}

export interface WalkResult {
  /** The last slice, which has the sums; null: the walk ended before the first. */
  last: NativeWalkBatch | null;
  /** false: the signal or `enough` ended the walk early. */
  complete: boolean;
}

/** The error of a walk, or of a path on its way. */
function walkError(failure: Failure): UmaError {
  if (failure.name !== 'TIMEOUT') return toUmaError(failure);
  const message = `${failure.message}. The file system there does not answer: leave it out, or repair its mount`;
  return toUmaError({ ...failure, message });
}

/**
 * The path without links, and whether it is a directory; null: it does not exist, or may not be examined.
 *
 * @throws UmaError `ERR_UMA_TIMEOUT` if its file system does not answer. Node's own functions would wait for ever, and
 *   the process could not exit.
 */
export async function resolvePath(binding: NativeBinding, path: string): Promise<ResolvedPath | null> {
  const resolved = await binding.resolvePath(path, SLICE_LIMIT_MS);
  if (!isFailure(resolved)) return resolved;
  if (resolved.name !== 'TIMEOUT') return null;
  throw walkError({ ...resolved, message: `${resolved.message}, at ${path}` });
}

export interface ResolvedPath {
  path: string;
  directory: boolean;
}

/** @throws UmaError if the walk itself fails. A failure at a single file is an entry of a batch. */
export async function walk(
  binding: NativeBinding,
  paths: readonly string[],
  options: NativeWalkOptions,
  hooks: WalkHooks,
  onBatch: (batch: NativeWalkBatch) => void,
): Promise<WalkResult> {
  const { signal, onEvent, enough } = hooks;
  const limitMs = options.mode === 'evict-sync' ? SYNC_SLICE_LIMIT_MS : SLICE_LIMIT_MS;
  const id = binding.cacheWalk([...paths], options);
  if (isFailure(id)) throw toUmaError(id);
  let last: NativeWalkBatch | null = null;
  try {
    while (signal?.aborted !== true) {
      const batch = await binding.cacheNext(id, SLICE_MS, limitMs);
      if (isFailure(batch)) throw walkError(batch);
      last = batch;
      onBatch(batch);
      // Awaited: a rejection belongs to the caller of the walk, and would otherwise end the process.
      await onEvent?.({ type: 'progress', files: batch.files, bytes: batch.bytes, path: batch.path });
      if (batch.done) return { last, complete: true };
      if ((await enough?.()) === true) break;
    }
    return { last, complete: false };
  } finally {
    binding.cacheEnd(id);
  }
}
