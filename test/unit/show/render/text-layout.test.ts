/** Cells and lines in columns of a terminal, not in characters. */
import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import {
  padEnd,
  padStart,
  table,
  truncate,
  truncateStart,
  widthOf,
  wrap,
} from '../../../../lib/show/render/text-layout.ts';

describe('a command in a text', () => {
  const text = 'release them if nothing needs them: echo 0 | sudo tee /proc/sys/vm/nr_hugepages';
  const command = 'echo 0 | sudo tee /proc/sys/vm/nr_hugepages';

  it('is not broken', () => {
    expect(wrap(text, 60)).not.toContain(command);
    expect(wrap(text, 60, [command])).toEqual(['release them if nothing needs them:', command]);
  });

  it('is broken where no line has room for it', () => {
    expect(wrap(text, 30, [command])).toEqual(wrap(text, 30));
  });
});

describe('the width of a text', () => {
  it.each([
    ['model.gguf', 10],
    ['模型.gguf', 9],
    ['ﾓﾃﾞﾙ', 4],
    ['é', 1],
    ['e\u0301', 1],
    ['👩‍💻', 2],
    ['\x1b[1;31mred\x1b[0m', 3],
    ['█·×…', 4],
    ['', 0],
  ])('%j takes %d columns', (text, columns) => {
    expect(widthOf(text)).toBe(columns);
  });

  it('of each character is that of string-width, which most texts do without', () => {
    const differing = Array.from({ length: 0xd800 }, (_, code) => String.fromCharCode(code)).filter(
      (character) => widthOf(character) !== stringWidth(character),
    );
    expect(differing).toEqual([]);
  });
});

describe('a text that is cut', () => {
  it.each([
    ['模型模型.gguf', 5, '模型…', '…gguf'],
    ['模型模型.gguf', 6, '模型…', '….gguf'],
    ['model.gguf', 10, 'model.gguf', 'model.gguf'],
    ['model.gguf', 6, 'model…', '….gguf'],
    ['model.gguf', 1, 'm', '…'],
    ['模型', 1, '', '…'],
  ])('%j to %d columns is %j, or at its beginning %j', (text, width, end, start) => {
    expect(truncate(text, width)).toBe(end);
    expect(truncateStart(text, width)).toBe(start);
  });

  it('is never wider than the limit, and whole if it fits', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 40 }), (text, width) => {
        expect(widthOf(truncate(text, width))).toBeLessThanOrEqual(width);
        expect(widthOf(truncateStart(text, width))).toBeLessThanOrEqual(width);
        if (widthOf(text) <= width) expect(truncate(text, width)).toBe(text);
      }),
    );
  });
});

describe('a table', () => {
  it('aligns names of wide characters with others', () => {
    const rows = [
      ['模型.gguf', '4.0 GiB', 'vllm'],
      ['model.gguf', '12.0 GiB', 'ollama'],
    ];
    const lines = table(['left', 'right', 'left'], rows, 60);
    const columns = lines.map((line) => widthOf(line.slice(0, line.lastIndexOf('GiB'))));
    expect(columns[0]).toBe(columns[1]);
    expect(padEnd('模型', 6)).toBe('模型  ');
    expect(padStart('模型', 6)).toBe('  模型');
  });
});
