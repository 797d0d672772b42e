/** Layout of plain text: cells, tables and lines that fit. Colour codes take no columns. */
import stringWidth from 'string-width';

/** Columns that a text takes on a terminal, without its colour codes: 模型.gguf takes 9. */
export function widthOf(text: string): number {
  return stringWidth(text);
}

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

export function padStart(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - widthOf(text))) + text;
}

const GRAPHEMES = new Intl.Segmenter();

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
  return [...GRAPHEMES.segment(text)].map(({ segment }) => segment);
}

/** Cuts an uncoloured text to `width` columns, with an ellipsis at the end. */
export function truncate(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  if (width <= 1) return fitting(graphemesOf(text), width).join('');
  return `${fitting(graphemesOf(text), width - 1).join('')}…`;
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

/** Breaks an uncoloured text at spaces into lines of at most `width` columns; a longer word keeps a line of its own. */
export function wrap(text: string, width: number): string[] {
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

/** A label and a wrapped paragraph beside it: further lines are indented to its first word. */
export function hanging(label: string, text: string, width: number): string[] {
  const indent = widthOf(label);
  return wrap(text, Math.max(20, width - indent)).map(
    (line, index) => (index === 0 ? label : ' '.repeat(indent)) + line,
  );
}

export interface Column {
  align: 'left' | 'right';
  /** Takes the remaining width and is cut to it. At most one column; only uncoloured texts. */
  flexible?: boolean;
}

/** Rows of aligned columns, two spaces apart, within `width` if a column is flexible. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): string[] {
  const widths = columns.map((_, index) => Math.max(0, ...rows.map((row) => widthOf(row[index] ?? ''))));
  const gaps = 2 * (columns.length - 1);
  const flexible = columns.findIndex((column) => column.flexible === true);
  if (flexible >= 0) {
    const others = widths.reduce((sum, size, index) => (index === flexible ? sum : sum + size), 0);
    widths[flexible] = Math.max(8, Math.min(widths[flexible] ?? 0, width - gaps - others));
  }
  return rows.map((row) =>
    columns
      .map((column, index) => {
        const size = widths[index] ?? 0;
        const cell = column.flexible === true ? truncate(row[index] ?? '', size) : (row[index] ?? '');
        return column.align === 'right' ? padStart(cell, size) : padEnd(cell, size);
      })
      .join('  ')
      .trimEnd(),
  );
}
