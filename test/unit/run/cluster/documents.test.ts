/** JSON documents among other lines: found whole whatever they are cut into, or named as what they are not. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DocumentReader, Lines, MOST_DOCUMENT } from '../../../../lib/run/cluster/documents.ts';

function read(text: string, pieces: readonly number[] = []) {
  const reader = new DocumentReader();
  const lines = new Lines((line) => reader.line(line));
  let at = 0;
  for (const size of pieces) {
    lines.push(text.slice(at, at + size));
    at += size;
  }
  lines.push(text.slice(at));
  lines.end();
  reader.end();
  return reader.found;
}
const documents = (text: string) => read(text).map(({ document, problem }) => document ?? problem);

describe('a document', () => {
  it('is found whatever it is cut into, in one line or in many, behind any banner', () => {
    const banner = fc.array(fc.string({ unit: 'grapheme' }).filter((line) => !/[{\n\r]/.test(line)));
    const written = fc.record({ value: fc.dictionary(fc.string(), fc.jsonValue()), indent: fc.constantFrom(0, 2) });
    fc.assert(
      fc.property(banner, fc.array(written, { maxLength: 4 }), fc.array(fc.nat(40)), (lines, sent, pieces) => {
        const text = sent.map(({ indent, value }) => `${JSON.stringify(value, null, indent)}\n`).join('');
        const found = read(`${lines.map((line) => `${line}\n`).join('')}${text}`, pieces);
        const expected = sent.map(({ value }) => ({ document: JSON.parse(JSON.stringify(value)), problem: null }));
        expect(found).toEqual(expected);
      }),
    );
  });

  it('may follow colours and the title of a terminal, and carriage returns', () => {
    expect(documents('\x1b]0;spark\x07\x1b[0m{"a":\r\n1}\r\n')).toEqual([{ a: 1 }]);
  });

  it('has brackets in its strings', () => {
    expect(documents('{"a":"}\\"{","b":"\\\\"}\n')).toEqual([{ a: '}"{', b: '\\' }]);
  });

  it('behind words on its own line is none', () => {
    expect(documents('Welcome {"a":1}\n')).toEqual([]);
  });
});

describe('what is none is named', () => {
  it.each([
    ['a bracket of a banner', '{ welcome }\n{"a":1}\n', ['it is not JSON', { a: 1 }]],
    ['one that ends early', '{"a":\n', ['it ends in the middle of a document']],
    ['two that ran into each other', '{"a":\n{"b":1}\n1}\n', ['it is not JSON']],
  ])('%s', (_, text, expected) => {
    expect(documents(text)).toEqual(expected);
  });

  it.each(['\n', ''])('one that is too long, with %j between its parts', (between) => {
    const part = `"x": 1,${between}`.repeat(1000);
    const [first] = read(`{${part.repeat(Math.ceil((2.5 * MOST_DOCUMENT) / part.length))}"y": 1}\n`);
    expect(first?.problem).toMatch(/^it is longer than/);
  });
});

it('a line without an end takes no more memory than a document', () => {
  const reader = new DocumentReader();
  let longest = 0;
  const lines = new Lines((line) => {
    longest = Math.max(longest, line.length);
    reader.line(line);
  });
  for (let count = 0; count < 200; count++) lines.push('x'.repeat(65_536));
  lines.push('\n{"a":1}\n');
  expect(longest).toBeLessThan(3 * MOST_DOCUMENT);
  expect(reader.found).toEqual([{ document: { a: 1 }, problem: null }]);
});
