/** Layout of plain text: cells, tables and lines that fit. Colour codes take no columns. */
import { createRequire } from 'node:module';
import { stripVTControlCharacters } from 'node:util';

/** Texts of which every character takes one column: Latin letters, and the arrows, lines, blocks and dots of our pictures. */
const NARROW =
  /^[ -~\u00a0-\u00ac\u00ae-\u00ff\u2013\u2014\u2018-\u201d\u2026\u2190-\u2193\u2212\u2264\u2265\u2500-\u259f\u2800-\u28ff]*$/;

let stringWidth: ((text: string) => number) | undefined;

/** Columns that a text takes on a terminal, without its colour codes: 模型.gguf takes 9. */
export function widthOf(text: string): number {
  const plain = text.includes('\x1b') ? stripVTControlCharacters(text) : text;
  if (NARROW.test(plain)) return plain.length;
  // Loaded for other texts only: its regular expressions over Unicode take longer to load than the rest of a command.
  stringWidth ??= (createRequire(import.meta.url)('string-width') as typeof import('string-width')).default;
  return stringWidth(plain);
}

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

export function padStart(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - widthOf(text))) + text;
}

/** The first graphemes of a text that fit into `width` columns. */
function fitting(graphemes: readonly string[], width: number): string[] {
  let left = width;
  const cut = graphemes.findIndex((grapheme) => {
    left -= widthOf(grapheme);
    return left < 0;
  });
  return cut === -1 ? [...graphemes] : graphemes.slice(0, cut);
}

function graphemesOf(text: string): string[] {
  if (NARROW.test(text)) return [...text];
  return [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);
}

/** Cuts an uncoloured text to `width` columns, with an ellipsis at the end. */
export function truncate(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  if (width <= 1) return fitting(graphemesOf(text), width).join('');
  return `${fitting(graphemesOf(text), width - 1).join('')}…`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences of paint.ts.
const COLOUR = /(\x1b\[[\d;]*m)/;

/** The same for a text with colours, which end where it is cut. */
export function clip(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let left = width - 1;
  const kept = text.split(COLOUR).map((part) => {
    if (COLOUR.test(part)) return part;
    const shown = fitting(graphemesOf(part), Math.max(0, left)).join('');
    left = shown.length < part.length ? 0 : left - widthOf(shown);
    return shown;
  });
  return `${kept.join('')}…`;
}

/** Cuts the start of an uncoloured text: the end of a path says more. */
export function truncateStart(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  return `…${fitting(graphemesOf(text).reverse(), width - 1)
    .reverse()
    .join('')}`;
}

/** Joins as many whole items as fit; a first item that is too long is cut. */
export function joinThatFits(items: readonly string[], separator: string, width: number): string {
  let line = truncate(items[0] ?? '', width);
  for (const item of items.slice(1)) {
    const longer = line + separator + item;
    if (widthOf(longer) > width) break;
    line = longer;
  }
  return line;
}

/** Stands for a space at which a text is not broken. */
const FIXED_SPACE = '\u00a0';

/**
 * Breaks an uncoloured text at spaces into lines of at most `width` columns; a longer word keeps a line of its own.
 * @param whole parts that are not broken where a line has room for them: commands to paste.
 */
export function wrap(text: string, width: number, whole: readonly string[] = []): string[] {
  const kept = whole
    .filter((part) => widthOf(part) <= width)
    .reduce((all, part) => all.replace(part, part.replaceAll(' ', FIXED_SPACE)), text);
  return wrapWords(kept, width).map((line) => line.replaceAll(FIXED_SPACE, ' '));
}

function wrapWords(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').filter((part) => part !== '')) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  if (line !== '' || lines.length === 0) lines.push(line);
  return lines;
}

/** A paragraph beside its label needs this many columns; with fewer it stands below the label. */
const MIN_HANGING = 20;

/** A label and a wrapped paragraph beside it: further lines are indented to its first word. */
export function hanging(label: string, text: string, width: number, whole: readonly string[] = []): string[] {
  const indent = widthOf(label);
  if (text === '') return [label];
  if (width - indent < MIN_HANGING && label.trim() !== '')
    return [...wrap(label, width), ...wrap(text, width - 2, whole).map((line) => `  ${line}`)];
  return wrap(text, Math.max(MIN_HANGING, width - indent), whole).map(
    (line, index) => (index === 0 ? label : ' '.repeat(indent)) + line,
  );
}

/**
 * Alignment of a column. At most one is flexible: it is aligned to the left, takes the remaining width and is cut to it,
 * with uncoloured texts. An optional one is flexible, and is left out where less than 8 columns remain for it.
 */
export type Column = 'left' | 'right' | 'flexible' | 'optional';

/** A narrower column cannot be read. */
const MIN_FLEXIBLE = 8;

/** Rows of aligned columns, two spaces apart. A flexible column gives way first; then rows are cut to `width`. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): string[] {
  const widths = columns.map((_, index) => Math.max(0, ...rows.map((row) => widthOf(row[index] ?? ''))));
  const gaps = 2 * (columns.length - 1);
  const flexible = columns.findIndex((column) => column === 'flexible' || column === 'optional');
  if (flexible >= 0) {
    const others = widths.reduce((sum, size, index) => (index === flexible ? sum : sum + size), 0);
    const room = width - gaps - others;
    if (room < MIN_FLEXIBLE && columns[flexible] === 'optional')
      return table(
        columns.toSpliced(flexible, 1),
        rows.map((row) => row.toSpliced(flexible, 1)),
        width,
      );
    widths[flexible] = Math.max(MIN_FLEXIBLE, Math.min(widths[flexible] ?? 0, room));
  }
  return rows
    .map((row) =>
      columns
        .map((column, index) => {
          const size = widths[index] ?? 0;
          const cell = index === flexible ? truncate(row[index] ?? '', size) : (row[index] ?? '');
          return column === 'right' ? padStart(cell, size) : padEnd(cell, size);
        })
        .join('  ')
        .trimEnd(),
    )
    .map((line) => clip(line, width));
}
