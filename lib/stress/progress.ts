import type { StressEvent } from './protocol.ts';
import type { Bounds, Room, SearchState } from './search.ts';

/**
 * How far it is, and where the rate so far leads: to where the room would be used up.
 *
 * @param room as it was before the step, when `heldBefore` was held.
 */
export function progress(
  search: SearchState,
  bounds: Bounds,
  room: Room,
  heldBefore: number,
  elapsedMs: number,
): StressEvent['progress'] {
  const { bestBytes, costPerByte, heldBytes } = search;
  const limits = [
    room.host === null ? null : room.host / costPerByte,
    room.blocks,
    room.device === null ? null : room.device.bytes,
  ].filter((bytes) => bytes !== null);
  const fits = limits.length === 0 ? null : heldBefore + Math.min(...limits);
  const expected = fits === null ? bounds.ceilingBytes : Math.min(fits, bounds.ceilingBytes ?? fits);
  const expectedBytes = expected === null ? null : Math.max(Math.floor(expected), bestBytes);
  const rate = elapsedMs > 0 ? bestBytes / elapsedMs : 0;
  const known = expectedBytes !== null && rate > 0 && bounds.mode === 'total';
  return { heldBytes, expectedBytes, etaMs: known ? Math.round((expectedBytes - bestBytes) / rate) : null };
}
