/** Frame of a page of any command: the band of a simulated machine, sections, and a labelled sentence. */
import { clean } from '../../../base/format.ts';
import type { Remedy } from '../../../types/index.ts';
import { dot, type RenderOptions } from '../options.ts';
import type { Paint, Style } from '../paint.ts';
import { type Column, hanging, padEnd, table, truncate, wrap } from '../text-layout.ts';
import { remedyLines } from './remedy.ts';

/**
 * A filled line that cannot be overlooked; none if the machine is real. `note` says more about the numbers, such as
 * their time scale.
 */
export function simulatedBand(
  machine: string | null,
  { cut, paint, width }: RenderOptions,
  { what = 'numbers', note = '' }: { what?: string; note?: string } = {},
): string[] {
  if (machine === null) return [];
  const text = ` SIMULATED  machine ${clean(machine)}: none of these ${what} comes from hardware${note} `;
  return [paint('simulated', padEnd(truncate(text, cut), width))];
}

/** A table whose first row is its heading. */
export function headedTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
  paint: Paint,
): string[] {
  const [heading = '', ...lines] = table(columns, rows, width);
  return [paint('heading', heading), ...lines];
}

/** Sections with a blank line between them; empty ones are left out. */
export function sections(...parts: readonly (readonly string[])[]): string[] {
  return parts.filter((lines) => lines.length > 0).flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]));
}

/**
 * A page that fits its window: the longest one, of steps 0 to `last` each shorter than the one before, or the last one.
 *
 * @param page of a step.
 */
export function fitting(
  last: number,
  page: (step: number) => string[],
  { rows = Number.POSITIVE_INFINITY }: RenderOptions,
): string[] {
  for (let step = 0; ; step++) {
    const lines = page(step);
    if (lines.length <= rows || step === last) return lines;
  }
}

/** "a · b · c", or "a  b  c" without dots, broken between parts only. */
export function flow(parts: readonly string[], options: RenderOptions, { dots = true } = {}): string[] {
  const glue = '\u00a0';
  const line = parts.map((part) => part.replaceAll(' ', glue)).join(dots ? dot(options) : `${glue} `);
  return wrap(line, options.width).map((text) =>
    text
      .replaceAll(glue, ' ')
      .trimEnd()
      .replace(dots ? / [·|]$/ : /$^/, '')
      .replace(dots ? /^[·|] / : /$^/, ''),
  );
}

/** A label in its colour, a sentence beside it and, below, what to do or to type next. */
export function labelled(label: string, style: Style, sentence: string, options: RenderOptions): string[] {
  const [first = '', ...more] = hanging(`${label}  `, sentence, options.width);
  return [options.paint(style, label) + first.slice(label.length), ...more];
}

/** Steps under a labelled sentence. */
export function nextLines(
  label: string,
  remedy: Pick<Remedy, 'command' | 'text'>,
  { unicode, width }: RenderOptions,
): string[] {
  return remedyLines(`${' '.repeat(label.length + 2)}${unicode ? '→' : '->'} `, remedy, width);
}
