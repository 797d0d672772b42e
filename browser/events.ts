/** Events over the lines of a chart: marks, stretches, and how the recording ended. */
import uPlot from 'uplot';
import type { Events } from './lines.ts';
import type { Theme } from './theme.ts';

/** Shades, below the lines. */
export function drawShades(plot: uPlot, { stretches }: Events, { colours }: Theme): void {
  inFrame(plot, (ctx, { top, height }) => {
    ctx.globalAlpha = 0.28;
    for (const { colour, from, height: at, to } of stretches) {
      if (at !== null) continue;
      const [left, right] = ends(plot, from, to);
      ctx.fillStyle = colours[colour];
      ctx.fillRect(left, top, right - left, height);
    }
  });
}

/** Levels and moments, over the lines. Labels that would touch the one before are left out. */
export function drawMoments(plot: uPlot, { moments, stretches }: Events, { colours, font }: Theme): void {
  const scale = uPlot.pxRatio;
  inFrame(plot, (ctx, { top, height }) => {
    ctx.globalAlpha = 0.55;
    for (const { colour, from, height: at, to } of stretches) {
      if (at === null) continue;
      const [left, right] = ends(plot, from, to);
      ctx.fillStyle = colours[colour];
      ctx.fillRect(left, plot.valToPos(at, 'y', true) - 3 * scale, right - left, 6 * scale);
    }
    ctx.globalAlpha = 1;
    ctx.font = font.replace('12px', `${11 * scale}px`);
    ctx.textBaseline = 'top';
    ctx.lineWidth = scale;
    ctx.setLineDash([3 * scale, 3 * scale]);
    let free = Number.NEGATIVE_INFINITY;
    const frame = { left: plot.bbox.left, right: plot.bbox.left + plot.bbox.width };
    const drawn = new Set<string>();
    for (const { at, colour, label } of moments) {
      const x = Math.round(plot.valToPos(at, 'x', true)) + 0.5;
      // Rounding may put the last moment beyond the edge. A program may set thousands of marks, one over the other.
      if (x < frame.left - scale || x > frame.right + scale || drawn.has(`${x} ${colour}`)) continue;
      drawn.add(`${x} ${colour}`);
      ctx.strokeStyle = colours[colour];
      ctx.beginPath();
      ctx.moveTo(x, top);
      ctx.lineTo(x, top + height);
      ctx.stroke();
      const text = shortened(label, (part) => ctx.measureText(part).width, plot.bbox.width);
      const width = ctx.measureText(text).width;
      const left = labelLeft(x, width, frame, 3 * scale);
      if (left < free) continue;
      free = left + width + 6 * scale;
      ctx.fillStyle = colours.ink;
      ctx.fillText(text, left, top + 2 * scale);
    }
  });
}

const LONGEST_LABEL = 24;

/** A label of at most 24 characters that is no wider than the chart. */
function shortened(label: string, widthOf: (text: string) => number, most: number): string {
  const characters = [...label];
  const withEnd = (count: number): string =>
    count < characters.length ? `${characters.slice(0, Math.max(0, count - 1)).join('')}…` : label;
  let count = Math.min(characters.length, LONGEST_LABEL);
  while (count > 1 && widthOf(withEnd(count)) > most) count--;
  return withEnd(count);
}

/** Start of a label of this width: after its line, before it at the right edge, and never outside of the chart. */
function labelLeft(x: number, width: number, frame: { left: number; right: number }, gap: number): number {
  if (x + gap + width <= frame.right) return x + gap;
  return Math.max(frame.left, x - gap - width);
}

/** Ends of a stretch, at least two pixels wide: a transient of 100 ms is to be seen in a day. */
function ends(plot: uPlot, from: number, to: number): [left: number, right: number] {
  const left = plot.valToPos(from, 'x', true);
  return [left, Math.max(plot.valToPos(to, 'x', true), left + 2 * uPlot.pxRatio)];
}

function inFrame(plot: uPlot, draw: (ctx: CanvasRenderingContext2D, box: uPlot.BBox) => void): void {
  const { bbox, ctx } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  draw(ctx, bbox);
  ctx.restore();
}
