/** The journal as a file, whatever a power cut, a disk or a mistyped name left there. In a scratch folder. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, it, vi } from 'vitest';
import { UmaError } from '../../../../lib/base/errors.ts';
import { openJournal } from '../../../../lib/core/journal/index.ts';
import { encode, type JournalRecord, parseJournal } from '../../../../lib/core/journal/records.ts';
import { begin, bytesOf, heading, whole } from '../../../support/journals.ts';

// Hundreds of runs take seconds on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const folder = mkdtempSync(join(tmpdir(), 'umaprobe-journal-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = join(folder, 'journal.jsonl');
const bytes = bytesOf(whole);

/** Opens and closes a journal with these bytes: its records then, or the refusal, which must leave every byte as it was. */
function opened(content: Uint8Array): JournalRecord[] | UmaError {
  writeFileSync(path, content);
  try {
    const journal = openJournal(path, heading);
    journal.gone('test');
    journal.close();
  } catch (error) {
    if (!(error instanceof UmaError)) throw error;
    expect(readFileSync(path).equals(content)).toBe(true);
    expect(error.code).toBe('ERR_UMA_JOURNAL');
    expect(error.message).not.toContain('\n');
    return error;
  }
  const parsed = parseJournal(readFileSync(path));
  if (typeof parsed === 'string') throw new Error(parsed);
  expect(parsed.tornBytes).toBe(0);
  return parsed.records;
}

/** Records before those of this run, which are its begin and gone records. */
function earlier(records: JournalRecord[]): JournalRecord[] {
  expect(records.slice(-2).map(({ type }) => type)).toEqual(['begin', 'gone']);
  return records.slice(0, -2);
}

const RUNS = { numRuns: 200 };

it('cut off anywhere, with NUL bytes or part of a record behind it: complete records stay, none is invented', () => {
  const next = Buffer.from(encode(begin('next')));
  const tail = fc.oneof(
    fc.nat(5_000).map((length) => Buffer.alloc(length)),
    fc.nat(next.length - 3).map((length) => next.subarray(0, length)),
  );
  fc.assert(
    fc.property(fc.nat(bytes.length), tail, (cut, after) => {
      const kept = bytes.subarray(0, cut);
      const complete = kept.toString().split('\n').length - 1;
      const found = opened(Buffer.concat([kept, after]));
      // A tail behind half a record is no record: the file is not a journal that a power cut tore.
      if (found instanceof UmaError) return;
      expect(earlier(found).length).toBeGreaterThanOrEqual(complete);
      expect(earlier(found)).toEqual(whole.slice(0, earlier(found).length));
    }),
    RUNS,
  );
});

it('of which a bit has changed: refused and left alone, or nothing is lost but a torn end', () => {
  fc.assert(
    fc.property(fc.nat(bytes.length - 1), fc.nat(7), (where, bit) => {
      const changed = Buffer.from(bytes);
      changed[where] = (changed[where] as number) ^ (1 << bit);
      const found = opened(changed);
      if (found instanceof UmaError) return;
      const last = bytes.lastIndexOf('\n', bytes.length - 2) + 1;
      expect(where).toBeGreaterThanOrEqual(last);
      expect(earlier(found).length).toBeGreaterThanOrEqual(whole.length - 1);
      expect(earlier(found)).toEqual(whole.slice(0, earlier(found).length));
    }),
    RUNS,
  );
});

it('of another program is refused, and not one byte changes', () => {
  const start = encode(begin('x'));
  const foreign = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 400 }).map((content) => Buffer.from(content)),
    fc.string({ minLength: 1 }).map((text) => Buffer.from(text)),
    fc.json().map((text) => Buffer.from(text)),
    fc.integer({ min: 1, max: 100_000 }).map((length) => Buffer.alloc(length)),
    // What begins like a record, and is something else.
    fc
      .tuple(fc.integer({ min: 1, max: 12 }), fc.string())
      .map(([length, text]) => Buffer.from(start.slice(0, length) + text)),
    fc.array(fc.json(), { minLength: 1, maxLength: 5 }).map((lines) => Buffer.from(`${lines.join('\n')}\n`)),
  );
  fc.assert(
    fc.property(foreign, (content) => {
      expect(opened(content)).toBeInstanceOf(UmaError);
    }),
    RUNS,
  );
});
