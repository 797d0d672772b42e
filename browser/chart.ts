/** A chart: drawn, resized, and drawn again for another theme or scale. */
import uPlot from 'uplot';
import type { Theme } from './theme.ts';

export interface Line {
  name: string;
  colour(theme: Theme): string;
  dash: number[];
  /** One value for each x; null: not measured. */
  values: (number | null)[];
  /** A line without points: a limit. */
  bare?: boolean;
}

export interface ChartSpec {
  title: string;
  /** Of the y axis. */
  unit: string;
  xName: string;
  xs: number[];
  xText(x: number): string;
  lines: Line[];
}

export interface Scales {
  logX: boolean;
  logY: boolean;
}

export interface Chart {
  draw(theme: Theme, scales: Scales): void;
}

const HEIGHT = 248;

export function createChart(container: HTMLElement, spec: ChartSpec): Chart {
  const figure = document.createElement('figure');
  const caption = document.createElement('figcaption');
  caption.textContent = spec.title;
  const unit = document.createElement('span');
  unit.textContent = spec.unit;
  caption.append(unit);
  const canvas = document.createElement('div');
  figure.append(caption, canvas);
  container.append(figure);
  let plot: uPlot | null = null;
  new ResizeObserver(() => {
    if (plot !== null && canvas.clientWidth > 0 && canvas.clientWidth !== plot.width)
      plot.setSize({ width: canvas.clientWidth, height: HEIGHT });
  }).observe(canvas);
  return {
    draw(theme, scales) {
      plot?.destroy();
      // A logarithmic axis has no 0: the point is left out.
      const values = spec.lines.map((line) => line.values.map((y) => (scales.logY && y !== null && y <= 0 ? null : y)));
      plot = new uPlot(optionsOf(spec, theme, scales, canvas.clientWidth), [spec.xs, ...values], canvas);
    },
  };
}

function optionsOf(spec: ChartSpec, theme: Theme, { logX, logY }: Scales, width: number): uPlot.Options {
  const axis = { stroke: theme.soft, font: theme.font, ticks: { stroke: theme.line, size: 4 } };
  return {
    width,
    height: HEIGHT,
    scales: {
      // Powers of two, like the sizes of a sweep.
      x: {
        time: false,
        ...(logX
          ? {
              distr: 3 as const,
              log: 2 as const,
              range: (_plot: uPlot, min: number, max: number): [number, number] => [min / 1.08, max * 1.08],
            }
          : {}),
      },
      y: logY ? { distr: 3, log: 10 } : { range: (_plot, _min, max) => [0, max > 0 ? max * 1.06 : 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        values: (_plot, splits) => splits.map((x) => (x === null ? '' : compact(x))),
        ...(logX
          ? { splits: (_plot: uPlot, _axis: number, min: number, max: number) => powersOfTwo(min, max, width) }
          : {}),
        label: spec.xName,
        labelFont: theme.font,
        labelSize: 18,
        size: 30,
        labelGap: 0,
        space: 44,
      },
      {
        ...axis,
        grid: { stroke: theme.line, width: 1 },
        values: (_plot, splits) => splits.map((y) => (y === null ? '' : compact(y))),
        size: 52,
        space: 36,
      },
    ],
    series: [
      { label: ' ', value: (_plot, x) => (x === null ? '' : spec.xText(x)) },
      ...spec.lines.map((line) => {
        const colour = line.colour(theme);
        const show = line.bare !== true && spec.xs.length <= 60;
        return {
          label: line.name,
          stroke: colour,
          width: line.bare === true ? 1.5 : 2,
          dash: line.dash,
          spanGaps: true,
          points: { show, size: 6, width: 1.5, stroke: colour, fill: theme.panel },
          value: (_plot: uPlot, y: number | null) => (y === null ? '' : `${precise(y)} ${spec.unit}`),
        };
      }),
    ],
    cursor: {
      sync: { key: 'report' },
      points: { size: 9, width: 0, fill: (_plot, index) => spec.lines[index - 1]?.colour(theme) ?? theme.ink },
      drag: { x: false, y: false },
    },
    legend: { live: true },
  };
}

/** Labels at powers of two, as many as fit; uPlot's own start at the end of the scale and are not round. */
function powersOfTwo(min: number, max: number, width: number): number[] {
  const from = Math.ceil(Math.log2(min));
  const to = Math.floor(Math.log2(max));
  const every = Math.max(1, Math.ceil((to - from + 1) / Math.max(2, width / 48)));
  return Array.from({ length: Math.floor((to - from) / every) + 1 }, (_, index) => 2 ** (from + index * every));
}

/** "0.05", "3", "1,000": a label of an axis. */
function compact(value: number): string {
  return value >= 1e6 || (value !== 0 && Math.abs(value) < 1e-3)
    ? value.toExponential(0)
    : value.toLocaleString('en-US', { maximumFractionDigits: 3 });
}

/** Three to four figures: a value under the cursor. */
function precise(value: number): string {
  const digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
