// Draws the picture of the README from real screens, which follow each other: docs/screen.svg. node scripts/picture.mjs
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMain, main, root } from './run.mjs';

/** What is typed, and whether its numbers differ from run to run. */
export const SCREENS = [
  { typed: 'umaprobe --sim gb10-cached' },
  { typed: 'umaprobe fit --sim gb10-cached --bytes 14GB' },
  { typed: 'umaprobe prepare --sim gb10-cached 60GiB', varies: true },
  {
    typed: 'umaprobe guard --sim gb10 --floor 108GiB -- umaprobe sim grow --rate 4GiB/s --to 60GiB --gpu',
    varies: true,
  },
  { typed: 'umaprobe doctor --sim gb10-cached' },
];
const TITLE = 'Five screens of umaprobe on a simulated DGX Spark';
const DESCRIPTION =
  'How much can be loaded, and where the memory is; whether 14 GB fit; room made for 60 GiB; a program stopped before it takes the machine down; what is checked';

const FILE = join(root, 'docs', 'screen.svg');
const COLUMNS = 80;
const ROWS = 24;
/** Seconds, for each screen. */
const SHOWN = 6;
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

/** The rows of a terminal, a list of runs each: longer lines are wrapped, and of more rows than it has it shows the first. */
function rowsOf(screen) {
  const rows = screen
    .trimEnd()
    .split('\n')
    .flatMap((line) => {
      const wrapped = [[]];
      for (const { text, column, style } of runsOf(line)) {
        const characters = [...text];
        for (let at = column; characters.length > 0; ) {
          const part = characters.splice(0, COLUMNS - (at % COLUMNS));
          const row = Math.floor(at / COLUMNS);
          wrapped[row] = [...(wrapped[row] ?? []), { text: part.join(''), column: at % COLUMNS, style }];
          at += part.length;
        }
      }
      return wrapped;
    });
  return rows.length > ROWS ? [...rows.slice(0, ROWS - 1), runsOf('…')] : rows;
}

const xOf = (column) => (MARGIN + column * CELL.width).toFixed(1);
const lengthOf = (text) => ([...text].length * CELL.width).toFixed(1);

function drawRun({ text, column, style }, row) {
  const top = MARGIN + row * CELL.height;
  const body = [];
  if (style.fill)
    body.push(
      `<rect x="${xOf(column)}" y="${top}" width="${lengthOf(text)}" height="${CELL.height}" fill="${style.fill}"/>`,
    );
  const look = `${style.ink ? ` fill="${style.ink}"` : ''}${style.bold ? ' font-weight="bold"' : ''}${style.dim ? ' opacity="0.7"' : ''}`;
  // A browser draws several spaces as one.
  for (const { 0: words, index } of text.matchAll(/\S+(?: \S+)*/g)) {
    const x = xOf(column + [...text.slice(0, index)].length);
    body.push(`<text x="${x}" y="${top + 13}" textLength="${lengthOf(words)}"${look}>${markup(words)}</text>`);
  }
  return body;
}

/** Who wants no motion sees the first screen. */
function motion(count) {
  return `<style>
.screen ~ .screen { visibility: hidden }
@media (prefers-reduced-motion: no-preference) { .screen { animation: show ${count * SHOWN}s step-end infinite } }
@keyframes show { 0% { visibility: visible } ${100 / count}%, 100% { visibility: hidden } }
</style>`;
}

/** Screens of a terminal, with their colours, as SVG: each run of text is stretched to its columns, whatever the font. */
export function drawScreens(screens, title, description) {
  const drawn = screens.map(rowsOf);
  const width = Math.round(COLUMNS * CELL.width + 2 * MARGIN);
  const height = Math.max(...drawn.map((rows) => rows.length)) * CELL.height + 2 * MARGIN;
  const groups = drawn.map(
    (rows, at) =>
      `<g class="screen" style="animation-delay:${at * SHOWN}s">\n${rows.flatMap((runs, row) => runs.flatMap((run) => drawRun(run, row))).join('\n')}\n</g>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title description">
<title id="title">${markup(title)}</title>
<desc id="description">${markup(description)}</desc>
${motion(screens.length)}
<rect width="100%" height="100%" rx="8" fill="#16181d"/>
<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14" fill="#d7dae0">
${groups.join('\n')}
</g>
</svg>
`;
}

/** What a terminal has after a command was typed. */
function screenOf(typed) {
  const cli = [process.execPath, join(root, 'dist', 'cli.js')];
  const [program, ...args] = typed.split(' ').flatMap((word) => (word === 'umaprobe' ? cli : [word]));
  const env = { ...process.env, FORCE_COLOR: '3', COLUMNS: String(COLUMNS) };
  const { stdout, stderr } = spawnSync(program, args, { cwd: root, encoding: 'utf8', env });
  return `\x1b[2m$\x1b[0m \x1b[1m${typed}\x1b[0m\n${stdout}${stderr}`;
}

/** The picture as it should be now. */
export function picture() {
  return drawScreens(
    SCREENS.map(({ typed }) => screenOf(typed)),
    TITLE,
    DESCRIPTION,
  );
}

if (isMain(import.meta.url)) await main(async () => writeFileSync(FILE, picture()));
