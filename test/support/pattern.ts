/** An independent implementation of native/abi/pattern.h. */

const MASK = (1n << 64n) - 1n;

export function patternByte(seed: bigint, offset: number): number {
  let word = (seed + (BigInt(Math.floor(offset / 8)) + 1n) * 0x9e3779b97f4a7c15n) & MASK;
  word = ((word ^ (word >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
  word = ((word ^ (word >> 27n)) * 0x94d049bb133111ebn) & MASK;
  return Number(((word ^ (word >> 31n)) >> BigInt((offset % 8) * 8)) & 0xffn);
}

/** Number of bytes of a block that differ under two seeds, and the place of the first; null: none does. */
export function differences(bytes: number, one: bigint, other: bigint): [number, number | null] {
  let [count, first]: [number, number | null] = [0, null];
  for (let at = 0; at < bytes; at++) {
    if (patternByte(one, at) === patternByte(other, at)) continue;
    count++;
    first ??= at;
  }
  return [count, first];
}
