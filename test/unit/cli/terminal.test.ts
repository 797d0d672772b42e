/** The one place where text goes to a terminal: nothing in it controls the terminal but colours of umaprobe. */
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonText } from '../../../lib/base/format.ts';
import { createTerminal } from '../../../lib/cli/core/terminal.ts';

const plain = createTerminal(new PassThrough(), {}, true);
const coloured = createTerminal(new PassThrough(), { FORCE_COLOR: '3' }, false);

/** What some terminal obeys: C0 but LF, DEL, C1, and characters that reorder text. */
function obeyed(text: string): string[] {
  const isControl = (code: number) => (code < 32 && code !== 10) || (code >= 127 && code < 160);
  const reorders = '\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069';
  return [...text].filter((character) => isControl(character.charCodeAt(0)) || reorders.includes(character));
}

describe('text for a terminal', () => {
  it.each([
    ['\x1b[2J\x1b]0;title\x07', '?[2J?]0;title?'],
    ['\u009b2J \u202etxt.exe', '?2J ?txt.exe'],
    ['\x1b[8mhidden\x1b[0m', '?[8mhidden?[0m'],
    ['one\ntwo\r\nthree\rfour', 'one\ntwo\r\nthree?four'],
    ['模型.gguf ✓ é', '模型.gguf ✓ é'],
  ])('%j becomes %j', (text, safe) => {
    expect(plain.safe(text)).toBe(safe);
  });

  it('is ASCII on a terminal whose locale has nothing else, as wide as before; in a pipe it is data', () => {
    const output = (isTTY: boolean) => Object.assign(new PassThrough(), { isTTY, columns: 80 });
    const text = 'CUDA’s 2 × 8 GiB · “a…” −1 µs';
    expect(createTerminal(output(true), { LANG: 'C' }, true).safe(text)).toBe("CUDA's 2 x 8 GiB | “a~” -1 us");
    expect(createTerminal(output(true), { LANG: 'C.UTF-8' }, true).safe(text)).toBe(text);
    expect(createTerminal(output(false), { LANG: 'C' }, true).safe(text)).toBe(text);
  });

  it('is printed line by line on a dumb terminal, which cannot redraw one', () => {
    const output = Object.assign(new PassThrough(), { isTTY: true, columns: 60 });
    const dumb = createTerminal(output, { TERM: 'dumb', LANG: 'C' }, false);
    expect([dumb.isTty, dumb.columns, dumb.safe('8 × 2')]).toEqual([false, 60, '8 x 2']);
    expect(createTerminal(output, { TERM: 'xterm', LANG: 'C' }, false).isTty).toBe(true);
  });

  it('keeps the colours of paint, and no other sequence', () => {
    const text = coloured.paint('danger', 'bad') + coloured.paint.fill('gpu', ' ');
    expect(coloured.safe(text)).toBe(text);
    expect(plain.safe(text)).not.toContain('\x1b');
    expect(coloured.safe('\x1b[8mhidden\x1b[5;31m')).toBe('?[8mhidden?[5;31m');
  });

  it('has nothing that a terminal obeys, whatever it was', () => {
    const nasty = fc.string({
      unit: fc.constantFrom('\x1b', '[', '0', 'm', '\u009b', '\r', '\n', '\u202e', 'a', '\x07'),
    });
    // fc.string({ unit: 'binary' }) is the same, and takes seconds to prepare.
    const any = fc
      .array(fc.integer({ min: 0, max: 0x10ffff }).filter((code) => code < 0xd800 || code > 0xdfff))
      .map((codes) => String.fromCodePoint(...codes));
    fc.assert(
      fc.property(fc.oneof(nasty, any), (text) => {
        expect(obeyed(plain.safe(text).replaceAll('\r\n', '\n'))).toEqual([]);
      }),
    );
  });
});

it('JSON has such characters as escapes, and says the same', () => {
  const document = { name: 'a\u009b\u202e\x7f\x1b\n', 'key\u0090': [1] };
  const text = jsonText(document, 2);
  expect(obeyed(text)).toEqual([]);
  expect(JSON.parse(text)).toEqual(document);
});
