/** The journal's format and its runs: pure functions. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encode, type JournalRecord, PREFIX, parseJournal } from '../../../../lib/core/journal/records.ts';
import { runsOf, unfinishedRun } from '../../../../lib/core/journal/runs.ts';
import { at, begin, bytesOf, dead, end, laterBoot as machine, result, step, whole } from '../../../support/journals.ts';
import { GiB } from '../../../support/units.ts';

describe('bytes', () => {
  const bytes = bytesOf(whole);

  it('are records again', () => {
    expect(parseJournal(bytes)).toEqual({ records: whole, goodBytes: bytes.length, lacksNewline: false, tornBytes: 0 });
    expect(parseJournal(Buffer.alloc(0))).toMatchObject({ records: [], tornBytes: 0 });
  });

  it('torn anywhere are readable, and only the last record is dropped', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: bytes.length }), fc.integer({ min: 0, max: 4096 }), (cut, nuls) => {
        const parsed = parseJournal(Buffer.concat([bytes.subarray(0, cut), Buffer.alloc(nuls)]));
        // A file that does not begin like a journal is another program's.
        if (cut < PREFIX.length && cut + nuls > 0) {
          expect(parsed).toMatch(/is not a record|only NUL bytes/);
          return;
        }
        if (typeof parsed === 'string') throw new Error(parsed);
        const complete = bytes.subarray(0, cut).toString().split('\n').length - 1;
        expect(parsed.records.length).toBeGreaterThanOrEqual(complete);
        expect(parsed.records).toEqual(whole.slice(0, parsed.records.length));
        expect(parsed.goodBytes + parsed.tornBytes).toBe(cut + nuls);
      }),
      { numRuns: 2_000 },
    );
  });

  it('changed anywhere are an error or harmless: never another size, never one step fewer', () => {
    const expected = unfinishedRun(runsOf(whole), machine, dead);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: bytes.length - 1 }), fc.integer({ min: 1, max: 255 }), (where, change) => {
        const flipped = Buffer.from(bytes);
        flipped[where] = (flipped[where] as number) ^ change;
        const parsed = parseJournal(flipped);
        if (typeof parsed === 'string') return;
        expect(unfinishedRun(runsOf(parsed.records), machine, dead)).toEqual(expected);
      }),
      { numRuns: 5_000 },
    );
  });

  it('of another file are not a journal, even one short line', () => {
    for (const text of [
      'hello',
      '{"a":1}',
      '\n',
      `${encode(begin('x'))}\n`,
      `${encode(begin('x')).trim()} `,
      '{"umaprobe":1,"type":"begin"}\n',
    ])
      expect(parseJournal(Buffer.from(text)), text).toMatch(/is not a record of umaprobe/);
  });
});

describe('runs', () => {
  const find = (records: JournalRecord[], where = machine, alive = dead) =>
    unfinishedRun(runsOf(records), where, alive);

  it('name the step in which the machine vanished', () => {
    expect(find(whole)).toMatchObject({
      heldBytes: 96 * GiB,
      targetBytes: 100 * GiB,
      provenBytes: 96 * GiB,
      otherBoot: true,
    });
    expect(find(whole)?.sentence).toBe(
      `the machine vanished while taking 96.0 GiB to 100.0 GiB of device memory (stress, ${at}, boot boot-a)`,
    );
  });

  it('have proven the most that was held, also when less is held at the end', () => {
    const smaller = [
      result('one', 96 * GiB),
      step('one', 0, 20 * GiB),
      result('one', 20 * GiB),
      step('one', 0, 98 * GiB),
    ];
    expect(find([begin('one'), step('one', 0, 96 * GiB), ...smaller])).toMatchObject({ provenBytes: 96 * GiB });
  });

  it('distinguish a killed process from a restarted machine', () => {
    expect(find(whole, { ...machine, bootId: 'boot-a' })).toMatchObject({ otherBoot: false });
    expect(find(whole, { ...machine, bootId: 'boot-a' })?.sentence).toMatch(/^the process vanished/);
  });

  it('that held when they vanished say so', () => {
    const holding = [begin('one'), step('one', 0, GiB), result('one', GiB), step('one', GiB, GiB)];
    expect(find(holding)?.sentence).toMatch(/^the machine vanished while holding 1\.0 GiB of device memory/);
  });

  it('are not unfinished while live, after their end, or once the same command has ended since', () => {
    expect(find(whole, machine, () => true)).toBeNull();
    expect(find([...whole, end('one')])).toBeNull();
    expect(find([...whole, begin('two'), end('two')])).toBeNull();
    const sweep = { ...begin('two'), command: 'sweep' } as JournalRecord;
    expect(find([...whole, sweep, end('two')])).not.toBeNull();
  });

  it('on a simulated machine say nothing about a real one', () => {
    expect(find(whole, { ...machine, simulated: 'gb10' } as never)).toBeNull();
  });
});
