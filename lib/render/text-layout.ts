/** Plain-text layout: cells, tables and lines that fit. Knows colour codes only so far as not to count them. */

/** What a colour code looks like: the only control character before a bracket is escape. */
const SGR = /\p{Cc}\[[0-9;]*m/gu;
/** Columns that a text takes, colour codes not counted. */
export function widthOf(text: string): number {
  return [...text.replace(SGR, '')].length;
}

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

export function padStart(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - widthOf(text))) + text;
}

/** Cuts an uncoloured text to `width`, showing that it was cut. */
export function truncate(text: string, width: number): string {
  const letters = [...text];
  if (letters.length <= width) return text;
  return width <= 1 ? letters.slice(0, Math.max(0, width)).join('') : `${letters.slice(0, width - 1).join('')}…`;
}

/** As many whole items as fit, the first one cut if even that does not. */
export function joinThatFits(items: readonly string[], separator: string, width: number): string {
  let line = truncate(items[0] ?? '', width);
  for (const item of items.slice(1)) {
    const longer = line + separator + item;
    if (widthOf(longer) > width) break;
    line = longer;
  }
  return line;
}

/** Breaks an uncoloured text at spaces into lines of at most `width`; a longer word stands alone and is kept whole. */
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

/** A wrapped paragraph behind a label: the following lines stand under the first one's text. */
export function hanging(label: string, text: string, width: number): string[] {
  const indent = widthOf(label);
  return wrap(text, Math.max(20, width - indent)).map(
    (line, index) => (index === 0 ? label : ' '.repeat(indent)) + line,
  );
}

export interface Column {
  align: 'left' | 'right';
  /** Takes the room that is left and is cut to it. At most one; only uncoloured texts. */
  flexible?: boolean;
}

/** Rows with aligned columns, two spaces apart, no wider than `width`. */
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
