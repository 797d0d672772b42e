/** Options of drawing a page: width, colours, character set and the unit of amounts. */
import { formatBytes, formatCount } from '../../base/format.ts';
import type { Paint, Style } from './paint.ts';

export interface RenderOptions {
  /** Columns to fill and to wrap at. */
  width: number;
  /** Columns after which a line is cut: those of a terminal; Infinity in a pipe or a file, which loses nothing. */
  cut: number;
  /** Lines that a page may have before its first ones leave the window; absent in a pipe or a file, which loses nothing. */
  rows?: number;
  paint: Paint;
  unicode: boolean;
  /** `--exact`: every amount with all its digits. */
  exact: boolean;
  /** Name of this computer; not part of a snapshot. */
  hostName: string;
}

/** "119.7 GiB", or with --exact every digit. */
export function amount(bytes: number | null, { exact }: RenderOptions): string {
  return exact && bytes !== null ? `${formatCount(bytes)} B` : formatBytes(bytes);
}

/** Separates the parts of a line. */
export function dot({ unicode }: RenderOptions): string {
  return unicode ? ' · ' : ' | ';
}

/** "[####......]": a share of a whole. The bar of an unknown part is blank, unlike that of 0. */
export function meter(part: number | null, whole: number, cells: number, style: Style, options: RenderOptions): string {
  if (part === null || !(whole > 0)) return `[${' '.repeat(cells)}]`;
  const full = Math.round(Math.min(1, Math.max(0, part / whole)) * cells);
  const mark = options.unicode ? '█' : '#';
  const rest = options.unicode ? '·' : '.';
  return `[${options.paint(style, mark.repeat(full))}${options.paint('dim', rest.repeat(cells - full))}]`;
}
