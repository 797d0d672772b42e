/**
 * The search for the most that can be allocated. Pure: what is known goes in, the next step comes out; who makes the steps
 * and reads the machine is loop.ts.
 *
 * Nothing is planned whose predicted cost passes the room that the host has above its floor, and near that edge a step
 * takes no more than half of the room that is left, down to the resolution.
 */

export type StressMode = 'total' | 'single';

export interface Bounds {
  mode: StressMode;
  firstBytes: number;
  chunkBytes: number;
  resolutionBytes: number;
  /** Never to be passed: what was asked for, or what an earlier run did not survive; null: none. */
  ceilingBytes: number | null;
}

/** What the next step may take, read just before it. null: not limited by that. */
export interface Headroom {
  /** Of the host, above its floor and margin. */
  host: number | null;
  /** In free blocks of 2 MiB or page cache that can become such. */
  blocks: number | null;
  /** Free on the device. `hard`: lazy memory, which would move to the host beyond it; else being refused does no harm. */
  device: { bytes: number; hard: boolean } | null;
}

export interface SearchState {
  /** Held now. In `single` mode 0 between tries. */
  heldBytes: number;
  /** The most that was held at once, or the largest block. */
  bestBytes: number;
  /** The next size, before anything limits it. */
  wishBytes: number;
  /** The smallest total, or block, that the allocator refused; null: none. */
  refusedBytes: number | null;
  /** What the machine loses for a byte, as the last step showed; at least 1. */
  costPerByte: number;
  /** How far the last step went beyond what the device said to be free, and was given; 0: it did not. */
  excessBytes: number;
  tries: number;
}

/** Which limit ended the search. `device`: the next step would pass the device's free memory. */
export type SearchEnd = 'limit' | 'out-of-memory' | 'floor' | 'contiguity' | 'device';

export type Move =
  | { bytes: number; predictedCost: number }
  | {
      end: SearchEnd;
      /** The smallest step that no longer fits. */
      nextBytes: number;
    };

/** More tries than any search needs (64 GiB in steps of 2 MiB is 15 halvings): a machine that keeps changing ends there. */
const MOST_SINGLE_TRIES = 64;

export function initialState(bounds: Bounds): SearchState {
  const wishBytes = Math.min(bounds.firstBytes, bounds.chunkBytes);
  return { heldBytes: 0, bestBytes: 0, wishBytes, refusedBytes: null, costPerByte: 1, excessBytes: 0, tries: 0 };
}

export function next(state: SearchState, bounds: Bounds, room: Headroom): Move {
  return bounds.mode === 'total' ? nextChunk(state, bounds, room) : nextBlock(state, bounds, room);
}

function downTo(bytes: number, resolution: number): number {
  return Math.floor(bytes / resolution) * resolution;
}

/**
 * The largest size that the room allows, by the limit that is tightest.
 *
 * @param base in `single` mode the best block so far, from which a next one is told; else 0.
 */
function tightest(state: SearchState, room: Headroom, base: number, least: number): { bytes: number; by: SearchEnd } {
  const limits: { bytes: number; by: SearchEnd }[] = [{ bytes: Number.MAX_SAFE_INTEGER, by: 'limit' }];
  if (room.host !== null) limits.push({ bytes: Math.max(0, Math.floor(room.host / state.costPerByte)), by: 'floor' });
  if (room.blocks !== null) limits.push({ bytes: Math.max(0, room.blocks), by: 'contiguity' });
  if (room.device !== null) {
    // Where a refusal does no harm it is better proof than the number of free bytes: the smallest step is tried all the
    // same, and where it is given, ever larger ones.
    const beyond = base + Math.max(least, 2 * state.excessBytes);
    limits.push({ bytes: room.device.hard ? room.device.bytes : Math.max(room.device.bytes, beyond), by: 'device' });
  }
  return limits.reduce((a, b) => (b.bytes < a.bytes ? b : a));
}

function move(state: SearchState, bytes: number): Move {
  return { bytes, predictedCost: Math.ceil(bytes * state.costPerByte) };
}

function nextChunk(state: SearchState, bounds: Bounds, room: Headroom): Move {
  const { heldBytes, refusedBytes } = state;
  const { ceilingBytes, resolutionBytes } = bounds;
  const toCeiling = ceilingBytes === null ? Number.MAX_SAFE_INTEGER : ceilingBytes - heldBytes;
  if (toCeiling <= 0) return { end: 'limit', nextBytes: resolutionBytes };
  const least = Math.min(resolutionBytes, toCeiling);
  if (refusedBytes !== null && refusedBytes - heldBytes <= least) return { end: 'out-of-memory', nextBytes: least };
  const limit = tightest(state, room, 0, least);
  if (limit.bytes < least) return { end: limit.by, nextBytes: least };
  const half = (bytes: number) => Math.max(least, downTo(bytes / 2, resolutionBytes));
  return move(
    state,
    Math.min(
      state.wishBytes,
      toCeiling,
      refusedBytes === null ? Number.MAX_SAFE_INTEGER : half(refusedBytes - heldBytes),
      // A refusal is no danger on a device's own memory; the host's edge is approached by halves.
      limit.by === 'device' ? Math.max(least, downTo(limit.bytes, resolutionBytes)) : half(limit.bytes),
    ),
  );
}

/**
 * One block at a time, each try a large allocation: a small one shows what a byte costs, a chunk shows it better, and the
 * third is all that is predicted to fit.
 */
function nextBlock(state: SearchState, bounds: Bounds, room: Headroom): Move {
  const { bestBytes, refusedBytes, tries } = state;
  const { ceilingBytes, chunkBytes, firstBytes, resolutionBytes } = bounds;
  const least = Math.min(resolutionBytes, ceilingBytes ?? resolutionBytes);
  const limit = tightest(state, room, bestBytes, least);
  const capped = ceilingBytes !== null && ceilingBytes <= limit.bytes;
  const largest = capped ? ceilingBytes : downTo(limit.bytes, resolutionBytes);
  const by: SearchEnd = capped ? 'limit' : limit.by;
  const ended: Move = { end: by, nextBytes: bestBytes + least };
  if (largest < least || tries >= MOST_SINGLE_TRIES) return ended;
  if (refusedBytes !== null && refusedBytes - bestBytes <= least) return { ...ended, end: 'out-of-memory' };
  const wanted =
    refusedBytes !== null ? state.wishBytes : tries === 0 ? firstBytes : tries === 1 ? chunkBytes : largest;
  const size = Math.min(wanted, largest);
  return size > bestBytes ? move(state, size) : ended;
}

/** What a step showed. */
export interface Outcome {
  state: 'ok' | 'out-of-memory';
  /** What the machine lost by it; null: not known. */
  cost: number | null;
  /** As it was before the step. */
  room: Headroom;
}

export function update(state: SearchState, bounds: Bounds, bytes: number, outcome: Outcome): SearchState {
  const tries = state.tries + 1;
  const reached = bounds.mode === 'total' ? state.heldBytes + bytes : bytes;
  if (outcome.state === 'out-of-memory') {
    const refusedBytes = Math.min(reached, state.refusedBytes ?? reached);
    return { ...state, tries, refusedBytes, wishBytes: afterRefusal(state, bounds, bytes, refusedBytes) };
  }
  const costPerByte = outcome.cost === null ? state.costPerByte : Math.max(1, outcome.cost / bytes);
  const bestBytes = Math.max(state.bestBytes, reached);
  const heldBytes = bounds.mode === 'total' ? reached : 0;
  const wishBytes = afterSuccess(state, bounds, bytes, bestBytes);
  const { device } = outcome.room;
  const excessBytes = device === null || device.hard ? 0 : Math.max(0, bytes - device.bytes);
  return { ...state, tries, costPerByte, bestBytes, heldBytes, wishBytes, excessBytes };
}

function middle(low: number, high: number, resolution: number): number {
  return low + Math.max(resolution, downTo((high - low) / 2, resolution));
}

function afterRefusal(state: SearchState, bounds: Bounds, bytes: number, refusedBytes: number): number {
  const { mode, resolutionBytes } = bounds;
  if (mode === 'total') return Math.max(resolutionBytes, downTo(bytes / 2, resolutionBytes));
  // The edge is close below what was predicted to fit: back by ever larger strides first, and then halve.
  const stride = state.refusedBytes === null ? resolutionBytes : 2 * (state.refusedBytes - bytes);
  const back = refusedBytes - Math.max(resolutionBytes, stride);
  return back > state.bestBytes ? back : middle(state.bestBytes, refusedBytes, resolutionBytes);
}

function afterSuccess(state: SearchState, bounds: Bounds, bytes: number, bestBytes: number): number {
  const { chunkBytes, mode, resolutionBytes } = bounds;
  if (mode === 'total') return Math.min(Math.max(bytes * 2, resolutionBytes), chunkBytes);
  return state.refusedBytes === null ? state.wishBytes : middle(bestBytes, state.refusedBytes, resolutionBytes);
}
