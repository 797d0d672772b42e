import { describe, expect, it } from 'vitest';
import type { RenderOptions } from '../../../../lib/show/render/options.ts';
import { createPaint } from '../../../../lib/show/render/paint.ts';
import { type Plot, plot } from '../../../../lib/show/render/plot.ts';
import { widthOf } from '../../../../lib/show/render/text-layout.ts';

function options(overrides: Partial<RenderOptions> = {}): RenderOptions {
  return { width: 80, cut: 80, paint: createPaint(0), unicode: true, exact: false, hostName: 'here', ...overrides };
}

function plotOf(points: readonly (readonly [number, number])[], overrides: Partial<Plot> = {}): Plot {
  return {
    title: 'A line',
    series: [{ letter: 'D', name: 'device', style: 'kind-1', points }],
    xText: (x) => `x${Math.round(x)}`,
    yText: (y) => `y${Math.round(y)}`,
    ...overrides,
  };
}

/** Row and column of each letter in the plot's body. */
function places(lines: readonly string[], letter: string): [row: number, column: number][] {
  return lines
    .slice(1, -2)
    .flatMap((line, row) =>
      [...line].flatMap((mark, column) => (mark === letter ? [[row, column] as [number, number]] : [])),
    );
}

describe('plot', () => {
  it('rises from the lower left to the upper right', () => {
    const lines = plot(
      plotOf([
        [0, 0],
        [50, 50],
        [100, 100],
      ]),
      options(),
    );
    expect(places(lines, 'D')).toEqual([
      [0, 79],
      [5, 43],
      [10, 6],
    ]);
    expect(lines[1]).toMatch(/^y100 ┤/);
    expect(lines.at(-3)).toMatch(/^ +y0 ┤/);
    expect(lines.at(-1)).toMatch(/^ +x0 +x20 +x40 +x60 +x80 +x100$/);
  });

  it.each([40, 80, 160])('fits into %d columns, with and without Unicode', (width) => {
    for (const unicode of [true, false]) {
      const points = Array.from({ length: 30 }, (_, index) => [2 ** index, 3 ** index] as const);
      const lines = plot(plotOf(points), options({ width, unicode }));
      expect(lines.filter((line) => widthOf(line) > width)).toEqual([]);
      // Neither is a character beyond ASCII let through where there is none.
      // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII from its first to its last.
      if (!unicode) expect(lines.join('')).toMatch(/^[\x00-\x7f]*$/);
    }
  });

  it('has two logarithmic axes or none, and says so', () => {
    const headingOf = (...points: [number, number][]) => plot(plotOf(points), options())[0];
    expect(headingOf([1, 1], [1000, 2])).toContain('(both axes logarithmic)');
    expect(headingOf([1, 1], [2, 1000])).toContain('(both axes logarithmic)');
    expect(headingOf([1, 1], [2, 2])).not.toContain('logarithmic');
    expect(headingOf([1, 0], [1000, 2])).not.toContain('logarithmic');
    expect(
      plot(
        plotOf(
          [
            [1, 1],
            [1000, 2],
          ],
          { steps: true },
        ),
        options(),
      )[0],
    ).not.toContain('logarithmic');
  });

  it('shows proportional times as a straight line, over any range of sizes', () => {
    for (const sizes of [
      [1, 2, 4, 8],
      [1, 10, 100, 1000],
    ]) {
      const marks = places(plot(plotOf(sizes.map((size) => [size, size * 35])), options()), 'D').toSorted(
        ([, a], [, b]) => a - b,
      );
      const slopes = marks.slice(1).map(([row, column], index) => {
        const [lastRow, lastColumn] = marks[index] as [number, number];
        return (lastRow - row) / (column - lastColumn);
      });
      expect(marks).toHaveLength(4);
      // A row is 1/8 of the height: half a row of rounding at both ends.
      for (const slope of slopes) expect(slope).toBeCloseTo(slopes.at(-1) as number, 1);
    }
  });

  it('marks failed measurements, and has room for them', () => {
    const lines = plot(
      plotOf([], {
        series: [
          {
            letter: 'D',
            name: 'device',
            style: 'kind-1',
            points: [
              [10, 1],
              [20, 2],
            ],
            failed: [40],
          },
        ],
      }),
      options(),
    );
    expect(lines[0]).toContain('x no result');
    expect(lines.at(-3)?.at(-1)).toBe('x');
    expect(Math.max(...places(lines, 'D').map(([, column]) => column))).toBeLessThan(50);
    expect(lines.at(-1)).toContain('x40');
  });

  it('names the lines that hide each other', () => {
    const line = (letter: string, ...ys: number[]) =>
      ({ letter, name: letter, style: 'kind-1', points: ys.map((y, x) => [x, y] as const) }) as const;
    const legend = (...series: Plot['series']) => plot(plotOf([], { series }), options())[0];
    expect(legend(line('D', 1, 2, 3), line('P', 1, 2, 3))).toMatch(/\* D, P$/);
    expect(legend(line('D', 1, 2, 3), line('P', 1, 9, 3), line('S', 1, 5, 9))).toMatch(/\* several$/);
    expect(legend(line('D', 1, 2, 3), line('P', 7, 8, 9))).not.toContain('*');
  });

  it('always marks the last point of a line, and no two points close together', () => {
    const points = Array.from({ length: 500 }, (_, index) => [index, 1] as const);
    const columns = places(plot(plotOf(points), options()), 'D').map(([, column]) => column);
    expect(columns.at(-1)).toBe(79);
    const gaps = columns.slice(1).map((column, index) => column - (columns[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(3);
  });

  it('paints each line in its own colour', () => {
    const lines = plot(
      plotOf([
        [0, 0],
        [1, 1],
      ]),
      options({ paint: createPaint(8) }),
    );
    expect(lines.join('\n')).toContain('\x1b[38;5;75mD');
  });

  it.each([
    [[]],
    [[[1, 2]]],
    [
      [
        [1, 2],
        [1, 3],
      ],
    ],
  ] as [number, number][][][])('draws nothing where there is no line: %j', (points) =>
    expect(plot(plotOf(points), options())).toEqual([]),
  );
});
