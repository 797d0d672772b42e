/** A chart: drawn, resized, drawn again for another theme or scale, and read with the pointer or the keyboard. */
import uPlot from 'uplot';
import { clockText, tickText } from '../lib/show/render/axis.ts';
import { drawMoments, drawShades } from './events.ts';
import { createLegend } from './legend.ts';
import { type Axes, axesOf, type ChartSpec, CLOCK_WIDTH, hiddenBy, readingText, summaryOf, xAxisOf } from './lines.ts';
import { drawBands, drawMarks } from './marks.ts';
import type { Theme } from './theme.ts';

export interface Chart {
  draw(theme: Theme, log: boolean): void;
  /** Other values on the same lines. */
  update(spec: ChartSpec): void;
  remove(): void;
}

const HEIGHT = 248;

export function createChart(container: HTMLElement, given: ChartSpec): Chart {
  const spec = { ...given };
  const figure = document.createElement('figure');
  const caption = document.createElement('figcaption');
  caption.textContent = spec.title;
  const unit = document.createElement('span');
  unit.textContent = spec.unit;
  caption.append(unit);
  const canvas = document.createElement('div');
  const legend = createLegend(spec);
  figure.append(caption, canvas, legend.element);
  container.append(figure);
  let plot: uPlot | null = null;
  let drawn: { theme: Theme; log: boolean; axes: Axes } | null = null;
  const draw = (theme: Theme, log: boolean): void => {
    plot?.destroy();
    const axes = axesOf(spec, log, canvas.clientWidth);
    drawn = { theme, log, axes };
    plot = new uPlot(optionsOf(spec, theme, axes, canvas.clientWidth), dataOf(spec, axes), canvas);
    plot.ctx.canvas.setAttribute('role', 'img');
    plot.ctx.canvas.setAttribute('aria-label', summaryOf(spec));
    makeReadable(plot, spec, legend.show);
  };
  const update = (next: ChartSpec): void => {
    Object.assign(spec, next);
    if (plot === null || drawn === null) return;
    Object.assign(drawn.axes, axesOf(spec, drawn.log, canvas.clientWidth));
    plot.setData(dataOf(spec, drawn.axes));
    plot.ctx.canvas.setAttribute('aria-label', summaryOf(spec));
    plot.over.setAttribute('aria-valuemax', String(spec.xs.length));
  };
  const forget = spec.time?.onChange(() => {
    if (plot === null || drawn === null || spec.time === undefined) return;
    const { from, to } = spec.time.span();
    plot.setScale('x', { min: from, max: to });
  });
  const resized = new ResizeObserver(() => {
    if (plot !== null && drawn !== null && canvas.clientWidth > 0 && canvas.clientWidth !== plot.width)
      draw(drawn.theme, drawn.log);
  });
  resized.observe(canvas);
  const remove = (): void => {
    forget?.();
    resized.disconnect();
    plot?.destroy();
    figure.remove();
  };
  return { draw, update, remove };
}

/** A logarithmic axis has no 0: the point is left out. */
function dataOf({ lines, xs }: ChartSpec, { y }: Axes): uPlot.AlignedData {
  return [
    [...xs],
    ...lines.map((line) => line.values.map((value) => (y.log && value !== null && value <= 0 ? null : value))),
  ];
}

/** The area over the lines is a slider along the x axis: its keys move the cursor, and it reads the values out. */
function makeReadable(plot: uPlot, spec: ChartSpec, show: (index: number | null) => void): void {
  const { over } = plot;
  /** Places that are shown: all, or those of the chosen time. */
  const ends = (): [first: number, last: number] => {
    if (spec.time === undefined) return [0, spec.xs.length - 1];
    const { from, to } = spec.time.span();
    const first = spec.xs.findIndex((x) => x >= from);
    return [Math.max(0, first), spec.xs.findLastIndex((x) => x <= to)];
  };
  over.tabIndex = 0;
  over.setAttribute('role', 'slider');
  over.setAttribute('aria-label', `${spec.title}, values by ${spec.xName}`);
  over.setAttribute('aria-valuemin', '1');
  over.setAttribute('aria-valuemax', String(spec.xs.length));
  const tell = (index: number | null): void => {
    const place = index ?? spec.xs.length - 1;
    over.setAttribute('aria-valuenow', String(place + 1));
    over.setAttribute('aria-valuetext', readingText(spec, place));
  };
  const moveTo = (index: number): void => {
    const y = spec.lines.map((line) => line.values[index] ?? null).find((value) => value !== null && value > 0);
    const top = y === undefined || y === null ? over.clientHeight / 2 : plot.valToPos(y, 'y');
    // Synchronised: the cursors of the other charts follow.
    (plot.setCursor as (position: { left: number; top: number }, fire: boolean, publish: boolean) => void)(
      { left: plot.valToPos(spec.xs[index] ?? 0, 'x'), top },
      true,
      true,
    );
  };
  tell(null);
  plot.hooks.setCursor = [
    ({ cursor }) => {
      show(cursor.idx ?? null);
      tell(cursor.idx ?? null);
    },
  ];
  over.addEventListener('keydown', (event) => {
    const now = plot.cursor.idx ?? null;
    const [first, last] = ends();
    const page = Math.max(1, Math.round((last - first) / 20));
    const next: Partial<Record<string, number>> = {
      ArrowLeft: now === null ? last : now - 1,
      ArrowDown: now === null ? last : now - 1,
      ArrowRight: now === null ? first : now + 1,
      ArrowUp: now === null ? first : now + 1,
      PageDown: (now ?? last) - page,
      PageUp: (now ?? first) + page,
      Home: first,
      End: last,
    };
    const index = next[event.key];
    if (index === undefined) return;
    event.preventDefault();
    moveTo(Math.max(first, Math.min(last, index)));
  });
}

const NONE = { moments: [], stretches: [] };
/** A shorter drag is a click, in CSS pixels. */
const LEAST_DRAG = 5;

/** Shows the time that was dragged over. */
function zoomTo(plot: uPlot, time: ChartSpec['time']): void {
  const { left, width } = plot.select;
  if (time === undefined || width < LEAST_DRAG) return;
  const [from, to] = [plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x')];
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  time.show({ from, to });
}

function spanOf(time: NonNullable<ChartSpec['time']>): [from: number, to: number] {
  const { from, to } = time.span();
  return [from, to];
}

function showAll(time: NonNullable<ChartSpec['time']>): null {
  time.show(time.whole);
  return null;
}

/** Least width of the y axis, and its width besides its longest label, in CSS pixels. */
const AXIS_WIDTH = 52;
const BESIDE_LABEL = 16;

/** Width of the y axis: its longest label has room. */
function labelSize({ ctx }: uPlot, texts: readonly string[] | null, { font }: Theme): number {
  ctx.save();
  ctx.font = font;
  const widest = (texts ?? []).reduce((most, text) => Math.max(most, ctx.measureText(text).width), 0);
  ctx.restore();
  return Math.max(AXIS_WIDTH, Math.ceil(widest) + BESIDE_LABEL);
}

/** Reads `spec` and `axes` whenever the chart is drawn: an update changes them. */
function optionsOf(spec: ChartSpec, theme: Theme, axes: Axes, width: number): uPlot.Options {
  const { colours } = theme;
  const { time } = spec;
  const { x, y } = axes;
  const hidden = time === undefined ? hiddenBy(spec.lines, y) : [];
  const axis = { stroke: colours.soft, font: theme.font, ticks: { stroke: colours.line, size: 4 } };
  const labels = (_plot: uPlot, splits: number[]): string[] => splits.map(tickText);
  const xLabels = (_plot: uPlot, splits: number[]): string[] => {
    if (time === undefined) return splits.map(tickText);
    const { from, to } = time.span();
    return splits.map((split) => clockText(split, to - from));
  };
  // Room for the marks of the first and the last point.
  const ends: [number, number] = x.log ? [x.from / 1.08, x.to * 1.08] : [x.from, x.to + (x.to - x.from) * 0.03];
  return {
    width,
    height: HEIGHT,
    // The last tick of a time is at the right edge: half of its label is beyond.
    ...(time === undefined ? {} : { padding: [null, CLOCK_WIDTH / 2, null, null] as uPlot.Padding }),
    scales: {
      x: {
        time: false,
        range: () => (time === undefined ? ends : spanOf(time)),
        ...(x.log ? { distr: 3 as const, log: 10 as const } : {}),
      },
      y: { range: () => [axes.y.from, axes.y.to], ...(y.log ? { distr: 3 as const, log: 10 as const } : {}) },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        splits: () => (time === undefined ? x : xAxisOf(spec, false, width)).ticks,
        filter: (_plot, splits) => splits,
        values: xLabels,
        label: spec.xName,
        labelFont: theme.font,
        labelSize: 18,
        size: 30,
        labelGap: 0,
      },
      {
        ...axis,
        grid: { stroke: colours.line, width: 1 },
        splits: () => axes.y.ticks,
        filter: (_plot, splits) => splits,
        values: labels,
        size: (plot, texts) => labelSize(plot, texts, theme),
      },
    ],
    series: [
      {},
      ...spec.lines.map((line, index) => ({
        label: line.name,
        stroke: colours[line.colour],
        width: line.bare === true ? 1.5 : 2,
        dash: line.dash.map((length) => length * uPlot.pxRatio),
        spanGaps: time === undefined,
        points: time === undefined ? { show: false } : isolatedPoints(() => spec.lines[index]),
      })),
    ],
    cursor: {
      // The charts share the x axis only.
      y: false,
      // Dragging and double clicks act on the zoom, which all charts of the recording share.
      sync: { key: 'report', filters: { pub: (type) => time === undefined || type === 'mousemove' } },
      ...(time === undefined ? {} : { bind: { dblclick: () => () => showAll(time) } }),
      points: {
        size: 9,
        width: 0,
        fill: (_plot, index) => colours[spec.lines[index - 1]?.colour ?? 'ink'],
      },
      drag: { x: time !== undefined, y: false, setScale: false },
    },
    legend: { show: false },
    hooks: {
      drawAxes: [
        (plot) =>
          time === undefined ? drawBands(plot, spec, theme, hidden) : drawShades(plot, spec.events ?? NONE, theme),
      ],
      draw: [
        (plot) =>
          time === undefined ? drawMarks(plot, spec, theme, hidden) : drawMoments(plot, spec.events ?? NONE, theme),
      ],
      setSelect: [(plot) => zoomTo(plot, time)],
    },
  };
}

/** Places of values that have no value before or after them. */
function isolatedPlaces(values: readonly (number | null)[]): number[] {
  const has = (place: number): boolean => (values[place] ?? null) !== null;
  return values.flatMap((_, place) => (has(place) && !has(place - 1) && !has(place + 1) ? [place] : []));
}

/** Points for the values of a line that it does not show otherwise. */
function isolatedPoints(line: () => ChartSpec['lines'][number] | undefined): uPlot.Series.Points {
  if (line()?.bare === true) return { show: false };
  return { show: true, size: 6, filter: () => isolatedPlaces(line()?.values ?? []) };
}
