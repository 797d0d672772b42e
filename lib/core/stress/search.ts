/**
 * The search for the largest allocation. Pure: the state and a reading go in, the next step comes out; loop.ts makes
 * the steps and reads the machine.
 *
 * No step is planned whose predicted cost exceeds the host's headroom above its floor. Near that edge a step takes at
 * most half of the remaining headroom, down to the resolution.
 */

export type StressMode = 'total' | 'single';

export interface Bounds {
  mode: StressMode;
  firstBytes: number;
  chunkBytes: number;
  resolutionBytes: number;
  /** Must not be exceeded: the caller's maximum, or the edge of an earlier run that was lost; null: no ceiling. */
  ceilingBytes: number | null;
}

/** Bytes that the next step may take, read just before it. null: not a limit. */
export interface Headroom {
  /** Host memory above the floor and its margin. */
  host: number | null;
  /** Free blocks of 2 MiB, and page cache that can become such blocks. */
  blocks: number | null;
  /** Free device memory. `hard`: lazy memory, which would spill to the host; otherwise a refusal is harmless. */
  device: { bytes: number; hard: boolean } | null;
}

export interface SearchState {
  /** Held now; in `single` mode 0 between tries. */
  heldBytes: number;
  /** The largest total that was held, or the largest block. */
  bestBytes: number;
  /** The next size, before limits apply. */
  nextBytes: number;
  /** The smallest total, or block, that the allocator refused; null: none. */
  refusedBytes: number | null;
  /** Host memory that one allocated byte took in the last step; at least 1. */
  costPerByte: number;
  /** Bytes by which the last successful step exceeded the device's free memory; 0: it did not. */
  excessBytes: number;
  tries: number;
}

/** The limit that ended the search. `device`: the next step would exceed the device's free memory. */
export type SearchEnd = 'limit' | 'out-of-memory' | 'floor' | 'contiguity' | 'device';

export type Move =
  | { bytes: number; predictedCost: number }
  | {
      end: SearchEnd;
      /** The smallest step, which no longer fits. */
      leastBytes: number;
    };

/** Result of a step. */
export interface Observation {
  state: 'ok' | 'out-of-memory';
  /** Host memory that the step took; null: not known. */
  cost: number | null;
  /** Headroom before the step. */
  headroom: Headroom;
}

/** A search needs fewer (64 GiB to 2 MiB takes 15 halvings): the limit ends it on a machine that keeps changing. */
const MAX_SINGLE_TRIES = 64;

export function initialState(bounds: Bounds): SearchState {
  const nextBytes = Math.min(bounds.firstBytes, bounds.chunkBytes);
  return { heldBytes: 0, bestBytes: 0, nextBytes, refusedBytes: null, costPerByte: 1, excessBytes: 0, tries: 0 };
}

/** The next step, or the limit that ends the search. */
export function next(state: SearchState, bounds: Bounds, headroom: Headroom): Move {
  return bounds.mode === 'total' ? nextChunk(state, bounds, headroom) : nextBlock(state, bounds, headroom);
}

function nextChunk(state: SearchState, bounds: Bounds, headroom: Headroom): Move {
  const { heldBytes, refusedBytes } = state;
  const { ceilingBytes, resolutionBytes } = bounds;
  const toCeiling = ceilingBytes === null ? Number.MAX_SAFE_INTEGER : ceilingBytes - heldBytes;
  if (toCeiling <= 0) return { end: 'limit', leastBytes: resolutionBytes };
  const least = Math.min(resolutionBytes, toCeiling);
  if (refusedBytes !== null && refusedBytes - heldBytes <= least) return { end: 'out-of-memory', leastBytes: least };
  const limit = tightestLimit(state, headroom, 0, least);
  if (limit.bytes < least) return { end: limit.end, leastBytes: least };
  const half = (bytes: number) => Math.max(least, downTo(bytes / 2, resolutionBytes));
  return moveTo(
    state,
    Math.min(
      state.nextBytes,
      toCeiling,
      refusedBytes === null ? Number.MAX_SAFE_INTEGER : half(refusedBytes - heldBytes),
      // A refusal is harmless in a device's own memory; the host's edge is approached by halves.
      limit.end === 'device' ? Math.max(least, downTo(limit.bytes, resolutionBytes)) : half(limit.bytes),
    ),
  );
}

/**
 * One block at a time: a small one shows the cost per byte, a chunk shows it better, and the third is the largest that
 * is predicted to fit.
 */
function nextBlock(state: SearchState, bounds: Bounds, headroom: Headroom): Move {
  const { bestBytes, refusedBytes, tries } = state;
  const { ceilingBytes, chunkBytes, firstBytes, resolutionBytes } = bounds;
  const least = Math.min(resolutionBytes, ceilingBytes ?? resolutionBytes);
  const limit = tightestLimit(state, headroom, bestBytes, least);
  const isCapped = ceilingBytes !== null && ceilingBytes <= limit.bytes;
  const largest = isCapped ? ceilingBytes : downTo(limit.bytes, resolutionBytes);
  const end: Move = { end: isCapped ? 'limit' : limit.end, leastBytes: bestBytes + least };
  if (largest < least || tries >= MAX_SINGLE_TRIES) return end;
  if (refusedBytes !== null && refusedBytes - bestBytes <= least) return { ...end, end: 'out-of-memory' };
  const wanted =
    refusedBytes !== null ? state.nextBytes : tries === 0 ? firstBytes : tries === 1 ? chunkBytes : largest;
  const size = Math.min(wanted, largest);
  return size > bestBytes ? moveTo(state, size) : end;
}

interface Limit {
  bytes: number;
  end: SearchEnd;
}

/**
 * The tightest limit of the next allocation.
 *
 * @param baseBytes in `single` mode the best block so far, which the next one must exceed; otherwise 0.
 */
function tightestLimit(state: SearchState, headroom: Headroom, baseBytes: number, least: number): Limit {
  const limits: Limit[] = [{ bytes: Number.MAX_SAFE_INTEGER, end: 'limit' }];
  if (headroom.host !== null)
    limits.push({ bytes: Math.max(0, Math.floor(headroom.host / state.costPerByte)), end: 'floor' });
  if (headroom.blocks !== null) limits.push({ bytes: Math.max(0, headroom.blocks), end: 'contiguity' });
  if (headroom.device !== null) {
    // If a refusal is harmless, it is better proof than the number of free bytes: the smallest step is tried anyway
    // and, as long as it succeeds, ever larger ones.
    const beyond = baseBytes + Math.max(least, 2 * state.excessBytes);
    limits.push({
      bytes: headroom.device.hard ? headroom.device.bytes : Math.max(headroom.device.bytes, beyond),
      end: 'device',
    });
  }
  return limits.reduce((a, b) => (b.bytes < a.bytes ? b : a));
}

function moveTo(state: SearchState, bytes: number): Move {
  return { bytes, predictedCost: Math.ceil(bytes * state.costPerByte) };
}

/** The state after a step of `bytes`. */
export function update(state: SearchState, bounds: Bounds, bytes: number, observed: Observation): SearchState {
  const tries = state.tries + 1;
  const reached = bounds.mode === 'total' ? state.heldBytes + bytes : bytes;
  if (observed.state === 'out-of-memory') {
    const refusedBytes = Math.min(reached, state.refusedBytes ?? reached);
    return { ...state, tries, refusedBytes, nextBytes: afterRefusal(state, bounds, bytes, refusedBytes) };
  }
  const costPerByte = observed.cost === null ? state.costPerByte : Math.max(1, observed.cost / bytes);
  const bestBytes = Math.max(state.bestBytes, reached);
  const heldBytes = bounds.mode === 'total' ? reached : 0;
  const nextBytes = afterSuccess(state, bounds, bytes, bestBytes);
  const { device } = observed.headroom;
  const excessBytes = device === null || device.hard ? 0 : Math.max(0, bytes - device.bytes);
  return { ...state, tries, costPerByte, bestBytes, heldBytes, nextBytes, excessBytes };
}

function afterRefusal(state: SearchState, bounds: Bounds, bytes: number, refusedBytes: number): number {
  const { mode, resolutionBytes } = bounds;
  if (mode === 'total') return Math.max(resolutionBytes, downTo(bytes / 2, resolutionBytes));
  // The edge is just below the predicted size: go back by ever larger strides first, then halve.
  const stride = state.refusedBytes === null ? resolutionBytes : 2 * (state.refusedBytes - bytes);
  const back = refusedBytes - Math.max(resolutionBytes, stride);
  return back > state.bestBytes ? back : middle(state.bestBytes, refusedBytes, resolutionBytes);
}

function afterSuccess(state: SearchState, bounds: Bounds, bytes: number, bestBytes: number): number {
  const { chunkBytes, mode, resolutionBytes } = bounds;
  if (mode === 'total') return Math.min(Math.max(bytes * 2, resolutionBytes), chunkBytes);
  return state.refusedBytes === null ? state.nextBytes : middle(bestBytes, state.refusedBytes, resolutionBytes);
}

function middle(low: number, high: number, resolution: number): number {
  return low + Math.max(resolution, downTo((high - low) / 2, resolution));
}

function downTo(bytes: number, resolution: number): number {
  return Math.floor(bytes / resolution) * resolution;
}
