/** A kind of memory gets its letter, colours and dash from its place among the kinds. */
import { expect, it } from 'vitest';
import { KINDS } from '../../../../lib/core/memory/kinds.ts';
import { KIND_STYLES, kindLetter, kindStyle, lettersOf, PALETTE, styleAt } from '../../../../lib/show/render/kinds.ts';
import { createPaint } from '../../../../lib/show/render/paint.ts';

it('keeps the letters, colours and dashes of the first four kinds', () => {
  const appearances = KINDS.slice(0, 4).map((kind) => {
    const { light, dark, dash } = PALETTE[kindStyle(kind)];
    const painted = [4, 8].map((depth) => createPaint(depth as 4 | 8)(kindStyle(kind), 'x'));
    return [kind, kindLetter(kind), ...painted, light, dark, dash];
  });
  expect(appearances).toEqual([
    ['device', 'D', '\x1b[34mx\x1b[0m', '\x1b[38;5;75mx\x1b[0m', '#0072b2', '#56b4e9', []],
    ['managed', 'M', '\x1b[33mx\x1b[0m', '\x1b[38;5;214mx\x1b[0m', '#c65a00', '#f0a04b', [9, 4]],
    ['pinned', 'P', '\x1b[32mx\x1b[0m', '\x1b[38;5;43mx\x1b[0m', '#00805e', '#35c49c', [2, 3]],
    ['system', 'S', '\x1b[35mx\x1b[0m', '\x1b[38;5;175mx\x1b[0m', '#a64f86', '#e394c4', [9, 3, 2, 3]],
  ]);
});

it.each(['basic', 'rich', 'light', 'dark', 'dash'] as const)('tells at least seven kinds apart by %s', (property) => {
  const values = KIND_STYLES.map((style) => PALETTE[style][property].toString());
  expect(values.length).toBeGreaterThanOrEqual(7);
  expect(new Set(values).size).toBe(values.length);
});

it('gives each kind a letter of its own, the first free one of its name', () => {
  const names = ['device', 'managed', 'pinned', 'system', 'pool', 'shared', 'daemon', 'd'];
  expect(lettersOf(names)).toEqual(['D', 'M', 'P', 'S', 'O', 'H', 'A', 'B']);
});

it('wraps around when there are more kinds than colours', () => {
  expect(styleAt(KIND_STYLES.length)).toBe(styleAt(0));
  expect(styleAt(KIND_STYLES.length + 2)).toBe(styleAt(2));
});
