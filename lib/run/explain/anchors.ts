/**
 * Search for many literals at once, in the manner of Wu and Manber (1994): most bytes of a log are skipped. One
 * Buffer.indexOf() for each of 40 literals takes ten times as long, and a regular expression of alternatives twice.
 */

/** Bytes that a literal must have at least: the longer the shortest one, the more is skipped. */
const SHORTEST_ANCHOR = 10;

/** Bytes of one block: three, because nearly every pair of letters is in some literal. */
const BLOCK = 3;
/** Bytes that are skipped after a block that is in no literal. */
const LONGEST_SKIP = SHORTEST_ANCHOR - BLOCK + 1;
/** Blocks are hashed to 15 bits: a table of 32 KiB stays in the processor's first cache. */
const BITS = 15;

interface AnchorCandidate {
  bytes: Uint8Array;
  anchor: number;
}

export class AnchorSearch {
  /** Bytes that can be skipped when a window ends with this block; 0: a literal may begin in the window. */
  readonly #skips = new Uint8Array(2 ** BITS).fill(LONGEST_SKIP);
  /** Literals by the block with which their window ends. */
  readonly #candidates: (AnchorCandidate[] | undefined)[] = new Array(2 ** BITS).fill(undefined);

  /** @param anchors ASCII texts of at least SHORTEST_ANCHOR bytes. */
  constructor(anchors: readonly string[]) {
    for (const [anchor, text] of anchors.entries()) {
      const bytes = Buffer.from(text, 'latin1');
      if (bytes.length < SHORTEST_ANCHOR) throw new Error(`the anchor "${text}" is too short`);
      for (let end = BLOCK; end <= SHORTEST_ANCHOR; end++) {
        const block = blockAt(bytes, end - BLOCK);
        const skip = SHORTEST_ANCHOR - end;
        this.#skips[block] = Math.min(skip, this.#skips[block] as number);
        if (skip > 0) continue;
        this.#candidates[block] ??= [];
        this.#candidates[block].push({ bytes, anchor });
      }
    }
  }

  /**
   * Calls `found` for each literal in `bytes` from `start` on that ends before `end`: its first byte, and its place in the
   * list. Several may begin at the same byte.
   */
  forEach(bytes: Uint8Array, start: number, end: number, found: (at: number, anchor: number) => void): void {
    const skips = this.#skips;
    // The last block of the window.
    let block = start + SHORTEST_ANCHOR - BLOCK;
    while (block + BLOCK <= end) {
      const skip = skips[blockAt(bytes, block)] as number;
      if (skip === 0) {
        this.#verify(bytes, block - (SHORTEST_ANCHOR - BLOCK), end, found);
        block++;
      } else {
        block += skip;
      }
    }
  }

  #verify(bytes: Uint8Array, at: number, end: number, found: (at: number, anchor: number) => void): void {
    for (const { bytes: literal, anchor } of this.#candidates[blockAt(bytes, at + SHORTEST_ANCHOR - BLOCK)] ?? [])
      if (at + literal.length <= end && startsWith(bytes, at, literal)) found(at, anchor);
  }
}

function blockAt(bytes: Uint8Array, at: number): number {
  return (
    (((bytes[at] as number) << 10) ^ ((bytes[at + 1] as number) << 5) ^ (bytes[at + 2] as number)) & (2 ** BITS - 1)
  );
}

function startsWith(bytes: Uint8Array, at: number, prefix: Uint8Array): boolean {
  for (let index = 0; index < prefix.length; index++) if (bytes[at + index] !== prefix[index]) return false;
  return true;
}
