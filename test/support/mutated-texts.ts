/** Texts that were changed as a broken, odd or hostile kernel would change them: an arbitrary for fast-check. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { ROOT } from './root.ts';

/** The real files of a kind: the same from which the native fuzz targets start. */
export function realFiles(kind: string): string[] {
  const folder = join(ROOT, 'test/fuzz/corpus', kind);
  return readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
}

/** Pieces that replace a number, or are put anywhere. */
const PIECES = [
  '',
  '0',
  '-1',
  '007',
  '1e3',
  '0x10',
  '1.5',
  '.5',
  '5.',
  '1.2.3',
  '100.01',
  '9007199254740991',
  '9007199254740993',
  '18446744073709551615',
  '9'.repeat(400),
  'NaN',
  'Infinity',
  'max',
  '٣',
  '\0',
  '\r',
  '\t',
  '\n',
  ' ',
  '\u00a0',
  '=',
  ':',
  'kB',
  'Node 0, zone   Normal ',
  'full ',
  'some ',
] as const;

type Edit = (text: string, at: number, length: number, piece: string) => string;

const lines = (text: string) => text.split('\n');
const EDITS: Record<string, Edit> = {
  truncate: (text, at) => text.slice(0, at),
  remove: (text, at, length) => text.slice(0, at) + text.slice(at + length),
  insert: (text, at, _, piece) => text.slice(0, at) + piece + text.slice(at),
  number: (text, at, _, piece) => {
    const found = [...text.matchAll(/\d+/g)];
    const chosen = found[at % Math.max(1, found.length)];
    return chosen === undefined
      ? piece
      : text.slice(0, chosen.index) + piece + text.slice(chosen.index + chosen[0].length);
  },
  doubleLine: (text, at) => {
    const all = lines(text);
    const index = at % all.length;
    return all.toSpliced(index, 0, all[index] as string).join('\n');
  },
  dropLine: (text, at) => {
    const all = lines(text);
    return all.toSpliced(at % all.length, 1).join('\n');
  },
  moveLine: (text, at, length) => {
    const all = lines(text);
    const [line = ''] = all.splice(at % all.length, 1);
    return all.toSpliced(length % (all.length + 1), 0, line).join('\n');
  },
};

/** A real file with none to a few changes. */
export function mutatedTexts(texts: readonly string[]): fc.Arbitrary<string> {
  const edit = fc.record({
    kind: fc.constantFrom(...Object.keys(EDITS)),
    at: fc.nat(10_000),
    length: fc.nat(40),
    piece: fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 4 })),
  });
  return fc
    .tuple(fc.constantFrom(...texts), fc.array(edit, { maxLength: 5 }))
    .map(([text, edits]) =>
      edits.reduce(
        (changed, { kind, at, length, piece }) =>
          (EDITS[kind] as Edit)(changed, at % (changed.length + 1), length, piece),
        text,
      ),
    );
}
