/** Counts line breaks four bytes at a time. */

const LINE_FEEDS = 0x0a0a0a0a;
const LOW_BITS = 0x7f7f7f7f;
const HIGH_BITS = 0x80808080 | 0;

/** Line feeds in `bytes` from `start` to `end`. */
export function countLineBreaks(bytes: Buffer, start: number, end: number): number {
  let count = 0;
  let at = start;
  for (; at < end && (bytes.byteOffset + at) % 4 !== 0; at++) if (bytes[at] === 10) count++;
  if (at >= end) return count;
  const whole = Math.floor((end - at) / 4);
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + at, whole);
  for (let index = 0; index < whole; index++) {
    // A byte of `rest` is 0 for a line feed; its high bit in `feeds` is then 1, and no other bit is.
    const rest = (words[index] as number) ^ LINE_FEEDS;
    const feeds = ~(((rest & LOW_BITS) + LOW_BITS) | rest) & HIGH_BITS;
    if (feeds !== 0) count += Math.imul(feeds >>> 7, 0x01010101) >>> 24;
  }
  for (at += 4 * whole; at < end; at++) if (bytes[at] === 10) count++;
  return count;
}
