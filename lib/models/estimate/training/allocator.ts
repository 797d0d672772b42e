/**
 * PyTorch's caching allocator (c10/cuda/CUDACachingAllocator.cpp, defaults of torch 2.11): its reservations on the
 * device for a sequence of allocations, and their used part. Nothing is allocated here.
 */

import { MiB } from '../../../base/format.ts';

/** Sizes are multiples of it. */
const ROUND = 512;
/** Largest size that comes from the pool of small blocks, whose segments have 2 MiB. */
const SMALL = MiB;
const SMALL_SEGMENT = 2 * MiB;
/** A segment of the other pool has 20 MiB below this size; from it on the size itself, in steps of 2 MiB. */
const MIDDLE = 10 * MiB;
const MIDDLE_SEGMENT = 20 * MiB;

/** A piece of a segment, between its neighbours there. */
export interface Block {
  size: number;
  inUse: boolean;
  isSmall: boolean;
  order: number;
  before: Block | null;
  after: Block | null;
}

export class CachingAllocator {
  /** Free blocks, smallest first: the smallest that is large enough is taken. */
  readonly #free = { small: [] as Block[], large: [] as Block[] };
  #blocks = 0;
  allocated = 0;
  peakAllocated = 0;
  /** Segments are never given back while nothing fails. */
  reserved = 0;

  allocate(bytes: number): Block {
    const size = Math.max(ROUND, Math.ceil(bytes / ROUND) * ROUND);
    const isSmall = size <= SMALL;
    const free = isSmall ? this.#free.small : this.#free.large;
    const at = lowerBound(free, size, -1);
    const block = free[at] ?? this.#segment(size, isSmall);
    if (at < free.length) free.splice(at, 1);
    this.#split(block, size);
    block.inUse = true;
    this.allocated += block.size;
    this.peakAllocated = Math.max(this.peakAllocated, this.allocated);
    return block;
  }

  free(block: Block): void {
    this.allocated -= block.size;
    block.inUse = false;
    this.#join(block, block.before, 'before');
    this.#join(block, block.after, 'after');
    const free = block.isSmall ? this.#free.small : this.#free.large;
    free.splice(lowerBound(free, block.size, block.order), 0, block);
  }

  #segment(size: number, isSmall: boolean): Block {
    const rounded = size < MIDDLE ? MIDDLE_SEGMENT : Math.ceil(size / SMALL_SEGMENT) * SMALL_SEGMENT;
    const bytes = isSmall ? SMALL_SEGMENT : rounded;
    this.reserved += bytes;
    return { size: bytes, inUse: false, isSmall, order: this.#blocks++, before: null, after: null };
  }

  /** Splits the rest off a block; a large block keeps a rest that is not larger than the largest small block. */
  #split(block: Block, size: number): void {
    const rest = block.size - size;
    if (block.isSmall ? rest < ROUND : rest <= SMALL) return;
    const { after, isSmall } = block;
    const other: Block = { size: rest, inUse: false, isSmall, order: this.#blocks++, before: block, after };
    if (after !== null) after.before = other;
    block.after = other;
    block.size = size;
    const free = isSmall ? this.#free.small : this.#free.large;
    free.splice(lowerBound(free, rest, other.order), 0, other);
  }

  #join(block: Block, neighbour: Block | null, side: 'before' | 'after'): void {
    if (neighbour === null || neighbour.inUse) return;
    const free = block.isSmall ? this.#free.small : this.#free.large;
    free.splice(lowerBound(free, neighbour.size, neighbour.order), 1);
    block.size += neighbour.size;
    const beyond = neighbour[side];
    block[side] = beyond;
    if (beyond !== null) beyond[side === 'before' ? 'after' : 'before'] = block;
  }
}

/** Index of the first block that is at least this large; of equal ones the first from this order on. */
function lowerBound(blocks: readonly Block[], size: number, order: number): number {
  let low = 0;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const block = blocks[middle] as Block;
    if (block.size < size || (block.size === size && block.order < order)) low = middle + 1;
    else high = middle;
  }
  return low;
}
