/**
 * Marks on a chart's lines: a shape for each point, a band under a line that another hides, a bar from the fastest to the
 * slowest repeat, a cross for a failure.
 */
import uPlot from 'uplot';
import type { ChartSpec, Line } from './lines.ts';
import type { Theme } from './theme.ts';

type DrawMark = (path: Path2D, x: number, y: number, radius: number) => void;

/** The shapes of the lines, in their order: they differ without colour, too. */
const SHAPES: readonly DrawMark[] = [
  (path, x, y, r) => path.arc(x, y, r, 0, 2 * Math.PI),
  (path, x, y, r) => path.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8),
  (path, x, y, r) => polygon(path, [x, y - r * 1.3], [x + r * 1.3, y], [x, y + r * 1.3], [x - r * 1.3, y]),
  (path, x, y, r) => polygon(path, [x, y - r * 1.2], [x + r * 1.2, y + r], [x - r * 1.2, y + r]),
];

function polygon(path: Path2D, ...corners: readonly (readonly [number, number])[]): void {
  for (const [x, y] of corners) path.lineTo(x, y);
  path.closePath();
}

/** Half the size of a point, in CSS pixels. */
const RADIUS = 3;

/** The mark of the line at this place of the chart, around x and y. */
export function shapeOf(place: number, x: number, y: number, radius = RADIUS): Path2D {
  const path = new Path2D();
  // Path2D.arc() draws a line from where the path is: it begins here.
  path.moveTo(x + (place % SHAPES.length === 0 ? radius : 0), y - (place % SHAPES.length === 2 ? radius * 1.3 : 0));
  SHAPES[place % SHAPES.length]?.(path, x, y, radius);
  return path;
}

/** Growth of a mark for each line that hides it, in CSS pixels. */
const WIDER = 2.5;

/** Draws a wide pale band under each line where others hide it; `hidden`: see hiddenBy(). Called before the lines. */
export function drawBands(plot: uPlot, spec: ChartSpec, { colours }: Theme, hidden: readonly number[][]): void {
  const { ctx } = plot;
  ctx.save();
  ctx.globalAlpha = 0.4;
  ctx.setLineDash([]);
  for (const [place, line] of spec.lines.entries()) {
    ctx.strokeStyle = colours[line.colour];
    let from: { x: number; y: number; times: number } | null = null;
    for (const [index, x] of spec.xs.entries()) {
      const value = line.values[index] ?? null;
      // The line goes on to the next value where there is none.
      if (!isDrawn(plot, value)) continue;
      const times = hidden[place]?.[index] ?? 0;
      const to = { x: plot.valToPos(x, 'x', true), y: plot.valToPos(value, 'y', true), times };
      if (from !== null && from.times > 0 && times > 0) {
        ctx.lineWidth = (2 + 2 * WIDER * Math.min(from.times, times)) * uPlot.pxRatio;
        ctx.beginPath();
        ctx.moveTo(from.x, from.y);
        ctx.lineTo(to.x, to.y);
        ctx.stroke();
      }
      from = to;
    }
  }
  ctx.restore();
}

/** Draws the marks of all lines over the lines. A point that others hide is larger, and shows as a ring. */
export function drawMarks(plot: uPlot, spec: ChartSpec, { colours }: Theme, hidden: readonly number[][]): void {
  const { ctx } = plot;
  const scale = uPlot.pxRatio;
  const radiusOf = (place: number, index: number): number => RADIUS + WIDER * (hidden[place]?.[index] ?? 0);
  // Marks of one line do not touch one another, however many points it has.
  const largest = Math.max(...spec.lines.flatMap((_, place) => spec.xs.map((_, index) => radiusOf(place, index))));
  const gap = (2 * largest + 1) * scale;
  ctx.save();
  for (const [place, line] of spec.lines.entries()) {
    if (line.bare === true) continue;
    ctx.strokeStyle = colours[line.colour];
    ctx.setLineDash([]);
    let free = Number.NEGATIVE_INFINITY;
    for (const [index, x] of spec.xs.entries()) {
      const across = plot.valToPos(x, 'x', true);
      drawSpread(plot, line, index, across, scale);
      const y = line.values[index] ?? null;
      if (isDrawn(plot, y) && across >= free) {
        free = across + gap;
        const path = shapeOf(place, across, plot.valToPos(y, 'y', true), radiusOf(place, index) * scale);
        ctx.lineWidth = 1.5 * scale;
        ctx.fillStyle = colours.panel;
        ctx.fill(path);
        ctx.stroke(path);
      }
      if (!hasFailed(line, index)) continue;
      const below = spec.lines.slice(0, place).filter((other) => hasFailed(other, index)).length;
      drawCross(plot, across, below, scale);
    }
  }
  ctx.restore();
}

/** A logarithmic axis has no place for 0. */
function isDrawn(plot: uPlot, y: number | null): y is number {
  return y !== null && (plot.scales.y?.distr !== 3 || y > 0);
}

function drawSpread(plot: uPlot, { spread }: Line, index: number, x: number, scale: number): void {
  const ends = spread?.[index] ?? null;
  if (ends === null || !isDrawn(plot, ends[0])) return;
  const [low, high] = ends.map((y) => plot.valToPos(y, 'y', true)) as [number, number];
  const cap = 4 * scale;
  const { ctx } = plot;
  ctx.lineWidth = 1.25 * scale;
  ctx.beginPath();
  for (const y of [low, high]) {
    ctx.moveTo(x - cap, y);
    ctx.lineTo(x + cap, y);
  }
  ctx.moveTo(x, low);
  ctx.lineTo(x, high);
  ctx.stroke();
}

function hasFailed({ failed }: Line, index: number): boolean {
  return (failed?.[index] ?? null) !== null;
}

/** Draws a cross on the lower edge; crosses of several lines stand above one another. */
function drawCross(plot: uPlot, x: number, below: number, scale: number): void {
  const { ctx, bbox } = plot;
  const arm = 4 * scale;
  const y = bbox.top + bbox.height - 12 * below * scale;
  ctx.lineWidth = 2 * scale;
  ctx.beginPath();
  ctx.moveTo(x - arm, y - arm);
  ctx.lineTo(x + arm, y + arm);
  ctx.moveTo(x + arm, y - arm);
  ctx.lineTo(x - arm, y + arm);
  ctx.stroke();
}
