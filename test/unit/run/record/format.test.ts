/** Segments as a power cut, a bad disk, and a later version leave them. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frameBytes, HEADER, noteBytes, readSegment, recordBytes, segmentBytes } from '../../../support/segments.ts';

const frames = Array.from({ length: 5 }, (_, index) => frameBytes({ bootUs: index * 100_000, free: 1000 + index }));
const whole = segmentBytes(HEADER, ...frames, noteBytes(5, { type: 'mark', text: 'x' }));

function read(bytes: Buffer) {
  const { header, problems, records } = readSegment('1.umarec', bytes);
  return {
    header,
    problems,
    free: records.flatMap((record) => (record.kind === 'frame' ? [record.free?.last] : [])),
    notes: records.flatMap((record) => (record.kind === 'note' ? [record.note] : [])),
  };
}

describe('a segment', () => {
  it('reads header, frames and notes', () => {
    const { free, header, notes, problems } = read(whole);
    expect(header).toEqual(HEADER);
    expect([free, notes, problems]).toEqual([[1000, 1001, 1002, 1003, 1004], [{ type: 'mark', text: 'x' }], []]);
  });

  it('what was never written is zeros, and no problem', () => {
    expect(read(Buffer.concat([whole, Buffer.alloc(4096)]))).toEqual(read(whole));
  });

  it('a torn record at the end is no problem, wherever it is cut', () => {
    const start = whole.length - frames.length; // some byte of the note
    for (let cut = start; cut < whole.length; cut++) {
      const torn = Buffer.concat([whole.subarray(0, cut), Buffer.alloc(512)]);
      expect(read(torn).problems).toEqual([]);
      expect(read(torn).free).toHaveLength(5);
    }
  });

  it('damage before the end is reported with its offset, and what follows is read', () => {
    const head = segmentBytes(HEADER).length;
    const size = (frames[0] as Buffer).length;
    const damaged = Buffer.from(whole);
    damaged[head + size + 30] = (damaged[head + size + 30] as number) ^ 1;
    const { free, problems } = read(damaged);
    expect(free).toEqual([1000, 1002, 1003, 1004]);
    expect(problems).toEqual([
      {
        segment: '1.umarec',
        offset: head + size,
        bytes: size,
        message: 'these bytes are damaged; what follows them was read',
      },
    ]);
  });

  it('a hole of zeros in the middle is damage, too', () => {
    const head = segmentBytes(HEADER).length;
    const holed = Buffer.from(whole);
    holed.fill(0, head + 50, head + 300);
    expect(read(holed).problems).toHaveLength(1);
    expect(read(holed).free).toEqual([1003, 1004]);
  });

  it('a later version may have other records, and longer frames', () => {
    const later = segmentBytes(HEADER, recordBytes(9, Buffer.from('new')), frameBytes({ bootUs: 0, free: 7 }, 64));
    expect(read(later)).toMatchObject({ free: [7], problems: [] });
  });

  it('a damaged header without a copy makes the segment unreadable; an empty file is none', () => {
    const damaged = Buffer.from(whole);
    damaged[20] = (damaged[20] as number) ^ 1;
    expect(read(damaged).problems).toMatchObject([{ offset: 0, bytes: whole.length }]);
    expect(read(Buffer.alloc(4096)).problems).toEqual([]);
    expect(read(Buffer.alloc(0)).problems).toEqual([]);
  });

  describe('with copies of its header', () => {
    const copy = noteBytes(0, { type: 'segment', header: HEADER });
    const records = [copy, ...frames.slice(0, 3), noteBytes(5, { type: 'mark', text: 'x' }), copy, ...frames.slice(3)];
    const copied = segmentBytes(HEADER, ...records);
    /** Where each record lies. */
    const places = records.map((record, index) => {
      const from = copied.length - records.slice(index).reduce((sum, { length }) => sum + length, 0);
      return { record, from, to: from + record.length };
    });
    const headEnd = places[0]?.from ?? 0;

    it('loses nothing to a damaged header', () => {
      const damaged = Buffer.from(copied);
      damaged[20] = (damaged[20] as number) ^ 1;
      expect(read(damaged)).toMatchObject({
        header: HEADER,
        free: [1000, 1001, 1002, 1003, 1004],
        problems: [{ offset: 0, bytes: headEnd, message: 'the header is damaged; a copy of it was read' }],
      });
    });

    it('loses what is damaged alone, wherever that is', () =>
      fc.assert(
        fc.property(
          fc.array(fc.tuple(fc.nat(copied.length - 1), fc.integer({ min: 1, max: 255 })), {
            minLength: 1,
            maxLength: 12,
          }),
          (flips) => {
            const damaged = Buffer.from(copied);
            for (const [at, mask] of flips) damaged[at] = (damaged[at] as number) ^ mask;
            const untouched = places.filter(({ from, to }) => copied.compare(damaged, from, to, from, to) === 0);
            const isHeadWhole = copied.compare(damaged, 0, headEnd, 0, headEnd) === 0;
            fc.pre(isHeadWhole || untouched.some(({ record }) => record === copy));
            const found = read(damaged);
            expect(found.header).toEqual(HEADER);
            const whole = untouched.flatMap(({ record }) => {
              const index = frames.indexOf(record);
              return index === -1 ? [] : [1000 + index];
            });
            expect(found.free).toEqual(expect.arrayContaining(whole));
            // Nothing is made up, and nothing is read twice.
            expect(found.free).toEqual([1000, 1001, 1002, 1003, 1004].filter((free) => found.free.includes(free)));
          },
        ),
        { numRuns: 2000 },
      ));
  });

  it('of a later format says which umaprobe reads it', () => {
    const later = Buffer.from(whole);
    later.write('UMAREC2\n', 'latin1');
    expect(read(later)).toMatchObject({
      header: null,
      free: [],
      problems: [
        { offset: 0, message: 'this segment has format 2, and this umaprobe reads format 1: use a newer one' },
      ],
    });
  });

  it('no bytes make it throw, or return a number that is none', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), fc.nat(whole.length - 1), (noise, at) => {
        const bytes = Buffer.from(whole);
        bytes.set(noise.subarray(0, whole.length - at), at);
        const { free, problems } = read(bytes);
        expect(free.every((value) => value === undefined || Number.isSafeInteger(value))).toBe(true);
        expect(problems.every(({ bytes: length, offset }) => offset >= 0 && length > 0)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
