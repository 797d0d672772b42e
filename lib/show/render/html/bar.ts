/** A bar of parts on one scale, as markup: it needs no script, and its places are shares of the width of the screen. */
import { type Content, html, type Markup } from './markup.ts';

export interface BarPart {
  /** Class that colours it. */
  style: string;
  /** Inside the part, where it is wide enough: the bar can be read without colour. */
  letter: string;
  bytes: number;
}

/** A line across the bar at a number of bytes, with a label below. */
export interface BarMark {
  at: number;
  label: string;
}

export interface BarPicture {
  parts: readonly BarPart[];
  /** Bytes of the whole width. */
  scale: number;
  /** Range of the real value, as an outline. */
  range?: readonly [from: number, to: number];
  marks?: readonly BarMark[];
  /** The picture in a sentence, for a reader who does not see it. */
  label: string;
}

/** Share of the width below which a letter would not fit, on a screen of 390 pixels. */
const LETTER_SHARE = 0.04;

/** Pixels from the top: the bar, and the label of each mark below it. */
const BAR = { y: 4, height: 40, letter: 30, label: 66, line: 18 };

export function barPicture({ label, marks = [], parts, range, scale }: BarPicture): Markup {
  const x = (bytes: number): string => `${(Math.min(1, Math.max(0, bytes / scale)) * 100).toFixed(3)}%`;
  let start = 0;
  const drawn = parts.map((part) => {
    const from = start;
    start += part.bytes;
    return segment(part, x(from), x(part.bytes), part.bytes / scale, x(from + part.bytes / 2));
  });
  const outline =
    range === undefined || range[1] <= range[0]
      ? null
      : html`<rect class="most" x="${x(range[0])}" y="${BAR.y}" width="${x(range[1] - range[0])}" height="${BAR.height}"/>`;
  const height = BAR.label + BAR.line * Math.max(0, marks.length - 1) + 6;
  return html`<svg class="pool" width="100%" height="${height}" role="img" aria-label="${label}">${drawn}${outline}${marks.map((mark, index) => markAt(mark, x(mark.at), mark.at / scale, index))}</svg>`;
}

/** A small bar in a table's cell: `bytes` of the scale, and a pale rest up to `most`. A line marks a limit. */
export function cellBar(
  bytes: number,
  { scale, most = scale, limit }: { scale: number; most?: number; limit?: number },
): Markup {
  const width = (size: number): string => ((size / scale) * 100).toFixed(1);
  const line = limit === undefined ? null : html`<rect class="limit" x="${width(limit)}" width="0.8" height="8"/>`;
  return html`<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="rest" width="${width(most)}" height="8"/><rect width="${width(bytes)}" height="8"/>${line}</svg>`;
}

function segment({ letter, style }: BarPart, x: string, width: string, share: number, middle: string): Content {
  if (share <= 0) return null;
  const text =
    share < LETTER_SHARE
      ? null
      : html`<text class="letter" x="${middle}" y="${BAR.letter}" text-anchor="middle">${letter}</text>`;
  return html`<g class="${style}"><rect x="${x}" y="${BAR.y}" width="${width}" height="${BAR.height}"/>${text}</g>`;
}

/** The label stands on the side where there is more room. */
function markAt({ label }: BarMark, x: string, share: number, index: number): Markup {
  const anchor = share > 0.5 ? 'end' : 'start';
  const y = BAR.label + index * BAR.line;
  return html`<g class="mark-${index + 1}"><line x1="${x}" x2="${x}" y1="0" y2="${y - 12}"/><text x="${x}" y="${y}" text-anchor="${anchor}">${label}</text></g>`;
}
