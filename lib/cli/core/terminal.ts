/** Destination of a command's output: its width, and whether it has colours and more than ASCII. */
import { printable } from '../../base/format.ts';
import type { RenderOptions } from '../../show/render/options.ts';
import { createPaint, type Depth, isPaint, type Paint } from '../../show/render/paint.ts';

export interface Terminal {
  /**
   * Writes text. Characters that could control a terminal are replaced here, and nowhere else, whatever their source:
   * error messages, names in machine files, process names, file names. Colours of `paint` stay.
   */
  write(text: string): void;
  /** The text as `write` would write it, to be put among control sequences. */
  safe(text: string): string;
  /** Writes umaprobe's own control sequences, which move the cursor. */
  control(sequences: string): void;
  /** Resolves when the reader has taken everything written: a command that streams waits, so that nothing piles up. */
  flushed(): Promise<void>;
  /** Calls back at each change of size; returns a function that stops it. */
  onResize(listener: () => void): () => void;
  /** Columns that a page is made for: 40 to 160. */
  readonly columns: number;
  /** Columns of the window, whatever can be read in them. */
  readonly windowColumns: number;
  readonly rows: number;
  /** A terminal that can redraw a line. A dumb one cannot (the shell of Emacs): each line is printed once, as in a pipe. */
  readonly isTty: boolean;
  readonly paint: Paint;
  /** True if characters beyond ASCII can be shown. */
  readonly unicode: boolean;
}

type Output = NodeJS.WritableStream & { isTTY?: boolean; columns?: number; rows?: number };

/** A table cannot be read in a narrower terminal anyway; longer lines are hard to follow. */
const MIN_COLUMNS = 40;
const MAX_COLUMNS = 160;

export function createTerminal(output: Output, env: NodeJS.ProcessEnv, noColor: boolean): Terminal {
  const isTerminal = output.isTTY === true;
  const isTty = isTerminal && env.TERM !== 'dumb';
  const paint = createPaint(noColor ? 0 : colourDepth(env, isTty));
  const unicode = hasUnicode(env);
  const safe = (text: string): string => {
    const shown = safeText(text, paint.depth > 0);
    // The text in a pipe or a file is data, which is UTF-8.
    return unicode || !isTerminal ? shown : inAscii(shown);
  };
  const windowColumns = (): number => {
    const columns = isTerminal ? output.columns : Number.parseInt(env.COLUMNS ?? '', 10);
    return columns !== undefined && columns > 0 ? columns : 80;
  };
  return {
    write: (text) => void output.write(safe(text)),
    safe,
    control: (sequences) => void output.write(sequences),
    flushed: () => new Promise((resolve) => output.write('', () => resolve())),
    onResize(listener) {
      output.on('resize', listener);
      return () => output.removeListener('resize', listener);
    },
    get columns() {
      return Math.min(MAX_COLUMNS, Math.max(MIN_COLUMNS, windowColumns()));
    },
    get windowColumns() {
      return windowColumns();
    },
    get rows() {
      return isTty && output.rows !== undefined && output.rows > 0 ? output.rows : 24;
    },
    isTty,
    paint,
    unicode,
  };
}

/** Signs of umaprobe's own sentences, each with one of ASCII that is as wide. */
const ASCII_SIGNS: Readonly<Record<string, string>> = {
  '…': '~',
  '’': "'",
  '·': '|',
  '×': 'x',
  '−': '-',
  '–': '-',
  '≤': '<',
  '≥': '>',
  µ: 'u',
};

function inAscii(text: string): string {
  return text.replace(/[…’·×−–≤≥µ]/g, (sign) => ASCII_SIGNS[sign] ?? sign);
}

const ESCAPE = '\x1b';

/** Line ends stay as they are (CSV has CRLF), and colours where this terminal has them. */
function safeText(text: string, colours: boolean): string {
  const safeLine = (line: string): string => {
    const [start = '', ...escapes] = line.split(ESCAPE);
    return printable(start) + escapes.map(safeEscape).join('');
  };
  const safeEscape = (rest: string): string => {
    const sgr = /^\[[\d;]*m/.exec(rest)?.[0] ?? '';
    if (!colours || !isPaint(ESCAPE + sgr)) return printable(ESCAPE + rest);
    return ESCAPE + sgr + printable(rest.slice(sgr.length));
  };
  const lines = text.split('\n');
  const ended = lines
    .slice(0, -1)
    .map((line) => (line.endsWith('\r') ? `${safeLine(line.slice(0, -1))}\r` : safeLine(line)));
  return [...ended, safeLine(lines.at(-1) ?? '')].join('\n');
}

/** NO_COLOR wins (no-color.org), then FORCE_COLOR decides; without either, a terminal that is not dumb has colours. */
export function colourDepth(env: NodeJS.ProcessEnv, isTty: boolean): Depth {
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return 0;
  const forced = env.FORCE_COLOR;
  if (forced === '0' || forced === 'false') return 0;
  if (forced === '2' || forced === '3') return 8;
  const wide = /256|truecolor|24bit|kitty|ghostty|direct/.test(`${env.TERM ?? ''} ${env.COLORTERM ?? ''}`);
  if (forced !== undefined) return wide ? 8 : 4;
  if (!isTty || env.TERM === undefined || env.TERM === '' || env.TERM === 'dumb') return 0;
  return wide ? 8 : 4;
}

/** Decides by the locale; UTF-8 is almost certain today without one, as in a bare container. */
function hasUnicode(env: NodeJS.ProcessEnv): boolean {
  const locale = [env.LC_ALL, env.LC_CTYPE, env.LANG].find((value) => value !== undefined && value !== '');
  return locale === undefined || /utf-?8/i.test(locale);
}

/** Options for drawing a page on this terminal. */
export function renderOptionsFor(
  { columns, isTty, paint, rows, unicode }: Terminal,
  { exact = false, hostName = '' }: Partial<Pick<RenderOptions, 'exact' | 'hostName'>> = {},
): RenderOptions {
  const page = { width: columns, paint, unicode, exact, hostName };
  // The line below a page is the shell's.
  return isTty ? { ...page, cut: columns, rows: rows - 1 } : { ...page, cut: Number.POSITIVE_INFINITY };
}
