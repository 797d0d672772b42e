import { describe, expect, it } from 'vitest';
import type { RenderOptions } from '../../../lib/render/options.ts';
import { createPaint } from '../../../lib/render/paint.ts';
import { axisOf, type Plot, plot } from '../../../lib/render/plot.ts';
import { widthOf } from '../../../lib/render/text-layout.ts';

function options(overrides: Partial<RenderOptions> = {}): RenderOptions {
  return { width: 80, paint: createPaint(0), unicode: true, exact: false, hostName: 'here', ...overrides };
}

function plotOf(points: readonly (readonly [number, number])[], overrides: Partial<Plot> = {}): Plot {
  return {
    title: 'A line',
    series: [{ letter: 'D', name: 'device', style: 'kind-1', points }],
    xName: 'size',
    yName: 'time',
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

describe('axes', () => {
  const free = { fromZero: true, linear: false };

  it('is logarithmic when the largest value is more than 20 times the smallest', () => {
    expect(axisOf([1, 20], free).log).toBe(false);
    expect(axisOf([1, 21], free)).toMatchObject({ log: true, from: 1, to: 21 });
    expect(axisOf([1, 1000], { ...free, linear: true })).toMatchObject({ log: false, from: 0, to: 1000 });
  });

  it('cannot be logarithmic with 0 in it', () => expect(axisOf([0, 1000], free).log).toBe(false));

  it('places values in proportion', () => {
    const linear = axisOf([5, 10], free);
    expect([0, 5, 10].map(linear.at)).toEqual([0, 0.5, 1]);
    const log = axisOf([1, 10, 100], free);
    expect(log.at(10)).toBeCloseTo(0.5);
    expect(log.value(0.5)).toBeCloseTo(10);
  });

  it('has room for a single value', () => expect(axisOf([7], { fromZero: false, linear: false }).at(7)).toBe(0));
});

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
      [4, 43],
      [8, 6],
    ]);
    expect(lines[1]).toMatch(/^y100 ┤/);
    expect(lines.at(-3)).toMatch(/^ +y0 ┤/);
    expect(lines.at(-1)).toMatch(/^ +x0 +x50 +x100$/);
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

  it('says which axis is logarithmic', () => {
    expect(
      plot(
        plotOf([
          [1, 1],
          [1000, 2],
        ]),
        options(),
      )[0],
    ).toContain('(size: logarithmic)');
    expect(
      plot(
        plotOf([
          [1, 1],
          [1000, 2000],
        ]),
        options(),
      )[0],
    ).toContain('(time, size: logarithmic)');
    expect(
      plot(
        plotOf([
          [1, 1],
          [2, 2],
        ]),
        options(),
      )[0],
    ).not.toContain('logarithmic');
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
    expect(lines.join('\n')).toContain('\x1b[38;5;75mD\x1b[0m');
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
