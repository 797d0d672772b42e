/**
 * Recordings of other machines. The bytes below were written with Python's struct and zlib, after the text of
 * native/run/record/format.h, and not by umaprobe: little-endian, 64-bit numbers, whatever the machine.
 */

import { expect, it } from 'vitest';
import { readSegment } from '../../../support/segments.ts';
import { GiB } from '../../../support/units.ts';

const bytesOf = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex');

/** "UMAREC1\\n", the length and the CRC-32 of the text, the text of an arm64 machine, padding. */
const HEAD = bytesOf(`
  554d41524543310a 00010000802d6c76 7b2273657373696f 6e223a2261222c22 626f6f744964223a 6e756c6c2c227369
  6d756c6174656422 3a6e756c6c2c2268 6f73744e616d6522 3a22737061726b2d 31222c2261726368 6974656374757265
  223a2261726d3634 222c226d656d6f72 794d6f64656c223a 22756e6966696564 222c22746f74616c 223a313238353138
  3631393133362c22 73776170546f7461 6c223a6e756c6c2c 22666c6f6f72223a 3839393633303333 33392c22696e7465
  7276616c4d73223a 31302c226672616d 654d73223a313030 2c227365676d656e 74223a312c22626f 6f745573223a3530
  30303030302c2277 616c6c5573223a31 3736333634303030 303030303030307d
`);
/** Type 1, 104 bytes: 5 s after boot, 100 ms, 10 readings; no total of "full", no swap. */
const FRAME = bytesOf(`
  0100000068000000 a6ca26a100000000 404b4c0000000000 a08601000a000000 000000c01a000000 0000000019000000
  000000801b000000 000000401c000000 000000001c000000 000000801c000000 409c000000000000 87d6120000000000
  ffffffffffffffff ffffffffffffffff 0010000000000000
`);
/** Type 2: a mark. */
const NOTE = bytesOf(`
  0200000041000000 22b2747f00000000 7b22626f6f745573 223a353035303030 302c226e6f746522 3a7b227479706522
  3a226d61726b222c 2274657874223a22 6c6f61646564222c 22706964223a377d 7d00000000000000
`);

it('a segment of an arm64 machine is read on any machine', () => {
  const { header, problems, records } = readSegment('1.umarec', Buffer.concat([HEAD, FRAME, NOTE]));
  expect(problems).toEqual([]);
  expect(header).toMatchObject({ hostName: 'spark-1', architecture: 'arm64', bootUs: 5_000_000 });
  expect(records).toEqual([
    {
      kind: 'frame',
      bootUs: 5_000_000,
      durationUs: 100_000,
      samples: 10,
      free: { last: 107 * GiB, lowest: 100 * GiB, highest: 110 * GiB },
      available: { last: 113 * GiB, lowest: 112 * GiB, highest: 114 * GiB },
      lowestAtUs: 40_000,
      lost: 0,
      someUs: 1_234_567,
      fullUs: null,
      swapFree: null,
      dirty: 4096,
    },
    { kind: 'note', bootUs: 5_050_000, note: { type: 'mark', text: 'loaded', pid: 7 } },
  ]);
});

/** What a writer that used the order of a big-endian machine would leave: no umaprobe does. */
const SWAPPED_HEAD = bytesOf(`
  554d41524543310a 00000100766c2d80 7b2273657373696f 6e223a2261222c22 626f6f744964223a 6e756c6c2c227369
  6d756c6174656422 3a6e756c6c2c2268 6f73744e616d6522 3a22737061726b2d 31222c2261726368 6974656374757265
  223a2261726d3634 222c226d656d6f72 794d6f64656c223a 22756e6966696564 222c22746f74616c 223a313238353138
  3631393133362c22 73776170546f7461 6c223a6e756c6c2c 22666c6f6f72223a 3839393633303333 33392c22696e7465
  7276616c4d73223a 31302c226672616d 654d73223a313030 2c227365676d656e 74223a312c22626f 6f745573223a3530
  30303030302c2277 616c6c5573223a31 3736333634303030 303030303030307d
`);
const SWAPPED_FRAME = bytesOf(`
  0000000100000068 2f566b8300000000 00000000004c4b40 000186a00000000a 0000001ac0000000 0000001900000000
  0000001b80000000 0000001c40000000 0000001c00000000 0000001c80000000 00009c4000000000 000000000012d687
  ffffffffffffffff ffffffffffffffff 0000000000001000
`);

it('numbers of the other byte order are damage, and never sizes', () => {
  expect(readSegment('1.umarec', Buffer.concat([SWAPPED_HEAD, SWAPPED_FRAME]))).toMatchObject({
    header: null,
    records: [],
    problems: [{ offset: 0, message: 'the header is damaged, so the segment cannot be read' }],
  });
  const { problems, records } = readSegment('1.umarec', Buffer.concat([HEAD, SWAPPED_FRAME, FRAME]));
  expect(records).toHaveLength(1);
  expect(problems).toMatchObject([{ offset: HEAD.length, bytes: SWAPPED_FRAME.length }]);
});
