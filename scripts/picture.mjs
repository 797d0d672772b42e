// Draws the picture of the README from the real screen: docs/screen.svg. node scripts/picture.mjs [--check]
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { capture, isMain, main, root } from './run.mjs';

const FILE = join(root, 'docs', 'screen.svg');
const COLUMNS = 80;
const CELL = { width: 8.4, height: 18 };
const MARGIN = 16;

/** A colour of the 256-colour palette as #rrggbb; the first 16 are not used by our screens but for black. */
function colourOf(index) {
  if (index === 16) return '#000000';
  const hex = (values) => `#${values.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
  if (index >= 232) return hex(Array(3).fill(8 + (index - 232) * 10));
  const cube = index - 16;
  return hex(
    [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((step) => (step === 0 ? 0 : 55 + step * 40)),
  );
}

/** Changes of a style by the numbers of one SGR sequence. */
function applySgr(style, numbers) {
  const next = { ...style };
  for (let at = 0; at < numbers.length; at++) {
    const code = numbers[at];
    if (code === 0) return applySgr({}, numbers.slice(at + 1));
    else if (code === 1) next.bold = true;
    else if (code === 2) next.dim = true;
    else if ((code === 38 || code === 48) && numbers[at + 1] === 5) {
      next[code === 38 ? 'ink' : 'fill'] = colourOf(numbers[at + 2]);
      at += 2;
    } else throw new Error(`the screen has the SGR code ${code}, which the picture cannot draw`);
  }
  return next;
}

/** The runs of one style in a line: text, column, style. */
function runsOf(line) {
  const runs = [];
  let style = {};
  let column = 0;
  for (const [at, part] of line.split('\x1b[').entries()) {
    const sgrLength = at === 0 ? 0 : part.indexOf('m') + 1;
    if (at > 0)
      style = applySgr(
        style,
        part
          .slice(0, sgrLength - 1)
          .split(';')
          .map(Number),
      );
    const text = part.slice(sgrLength);
    if (text !== '') runs.push({ text, column, style });
    column += [...text].length;
  }
  return runs;
}

const markup = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** A terminal's screen, with its colours, as SVG: each run of text is stretched to its columns, whatever the font. */
export function drawScreen(screen, title) {
  const lines = screen.trimEnd().split('\n');
  const width = Math.round(COLUMNS * CELL.width + 2 * MARGIN);
  const height = lines.length * CELL.height + 2 * MARGIN;
  const body = [];
  for (const [row, line] of lines.entries())
    for (const { text, column, style } of runsOf(line)) {
      const x = (MARGIN + column * CELL.width).toFixed(1);
      const length = ([...text].length * CELL.width).toFixed(1);
      const top = MARGIN + row * CELL.height;
      if (style.fill)
        body.push(`<rect x="${x}" y="${top}" width="${length}" height="${CELL.height}" fill="${style.fill}"/>`);
      if (text.trim() === '') continue;
      const look = `${style.ink ? ` fill="${style.ink}"` : ''}${style.bold ? ' font-weight="bold"' : ''}${style.dim ? ' opacity="0.7"' : ''}`;
      body.push(`<text x="${x}" y="${top + 13}" textLength="${length}"${look}>${markup(text)}</text>`);
    }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${markup(title)}">
<title>${markup(title)}</title>
<rect width="100%" height="100%" rx="8" fill="#16181d"/>
<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14" fill="#d7dae0" xml:space="preserve">
${body.join('\n')}
</g>
</svg>
`;
}

/** The picture as it should be now: the screen of a simulated Spark whose memory is full of copies of files. */
export function picture() {
  const screen = capture(process.execPath, [join(root, 'dist', 'cli.js'), '--sim', 'gb10-cached'], {
    env: { ...process.env, FORCE_COLOR: '3', COLUMNS: String(COLUMNS) },
  });
  return drawScreen(
    screen,
    'The screen of umaprobe on a simulated DGX Spark: how much can be loaded, and where the memory is',
  );
}

if (isMain(import.meta.url))
  await main(async () => {
    const drawn = picture();
    if (!process.argv.includes('--check')) writeFileSync(FILE, drawn);
    else if (readFileSync(FILE, 'utf8') !== drawn)
      throw new Error('docs/screen.svg is not the screen of today: node scripts/picture.mjs');
  });
