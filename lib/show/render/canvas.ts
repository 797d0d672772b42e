/** Cells of characters to draw on: eight dots a cell with Unicode, else one. */

import type { RenderOptions } from './options.ts';
import type { Style } from './paint.ts';

/** Marks a cell where lines meet: the line drawn last must not look like the only one. */
export const SEVERAL = '*';

/** Dots of a cell by column and row, as Unicode numbers them for braille. */
const BRAILLE = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
] as const;

export interface Canvas {
  /** Dots across and down, and across one cell. */
  dotsAcross: number;
  width: number;
  height: number;
  /** Dots from point to point. */
  line(points: readonly (readonly [column: number, row: number])[], style: Style): void;
  /** A letter over the dots of its cell. */
  letter(column: number, row: number, letter: string, style: Style): void;
  /** @param behind signs of empty cells, by column. */
  row(index: number, options: RenderOptions, behind?: ReadonlyMap<number, string>): string;
  /** The letters that share a cell: "DP" where D and P do. */
  shared(): ReadonlySet<string>;
}

interface Cell {
  dots: number;
  /** Letters in the order in which they were drawn. */
  letters: string;
  style: Style;
}

export function createCanvas(columns: number, rows: number, unicode: boolean): Canvas {
  const [across, down] = unicode ? [2, 4] : [1, 1];
  const cells = Array.from({ length: rows }, () => Array.from({ length: columns }, (): Cell | null => null));
  const at = (column: number, row: number): [Cell[] | (Cell | null)[], number] => [
    cells[Math.floor(row / down)] ?? [],
    Math.floor(column / across),
  ];
  const mark = (column: number, row: number, style: Style, change: (cell: Cell) => void): void => {
    const [line, index] = at(column, row);
    const cell = line[index] ?? { dots: 0, letters: '', style };
    if (cell.letters === '') cell.style = style;
    change(cell);
    line[index] = cell;
  };
  const dot = (column: number, row: number, style: Style): void =>
    mark(column, row, style, (cell) => {
      cell.dots |= BRAILLE[column % across]?.[row % down] ?? 1;
    });
  return {
    dotsAcross: across,
    width: columns * across,
    height: rows * down,
    line(points, style) {
      for (const [index, [toX, toY]] of points.entries()) {
        const [fromX, fromY] = points[index - 1] ?? [toX, toY];
        const steps = Math.max(Math.abs(toX - fromX), Math.abs(toY - fromY), 1);
        for (let step = 0; step <= steps; step++) {
          const share = step / steps;
          dot(Math.round(fromX + (toX - fromX) * share), Math.round(fromY + (toY - fromY) * share), style);
        }
      }
    },
    letter: (column, row, letter, style) =>
      mark(column, row, style, (cell) => {
        if (!cell.letters.includes(letter)) cell.letters += letter;
        cell.style = cell.letters.length > 1 ? 'strong' : style;
      }),
    shared: () =>
      new Set(
        cells
          .flat()
          .flatMap((cell) => (cell !== null && cell.letters.length > 1 ? [[...cell.letters].sort().join('')] : [])),
      ),
    row(index, options, behind = NOTHING) {
      const runs: { style: Style; text: string }[] = [];
      for (const [column, cell] of (cells[index] ?? []).entries()) {
        const style = cell?.style ?? 'dim';
        const text = cell === null ? (behind.get(column) ?? ' ') : signOf(cell, unicode);
        const last = runs.at(-1);
        if (last?.style === style) last.text += text;
        else runs.push({ style, text });
      }
      return runs.map(({ style, text }) => (text.trim() === '' ? text : options.paint(style, text))).join('');
    },
  };
}

const NOTHING: ReadonlyMap<number, string> = new Map();

function signOf({ dots, letters }: Cell, unicode: boolean): string {
  if (letters !== '') return letters.length > 1 ? SEVERAL : letters;
  return unicode ? String.fromCodePoint(0x2800 + dots) : '.';
}
