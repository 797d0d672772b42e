/** A picture that is redrawn in place; the terminal is restored however the process ends. */
import { clip } from '../../show/render/text-layout.ts';
import { exitOnSignals } from './interrupt.ts';
import type { Terminal } from './terminal.ts';

const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
/** Synchronized output: terminals that know it show a frame at once; others ignore it. */
const BEGIN_FRAME = '\x1b[?2026h';
const END_FRAME = '\x1b[?2026l';
const CLEAR_SCREEN = '\x1b[H\x1b[2J';
const CLEAR_LINE_REST = '\x1b[K';
const CLEAR_BELOW = '\x1b[J';

const BELL = '\x07';
const CTRL_C = '\x03';
const CTRL_Z = '\x1a';

export interface Live {
  draw(lines: readonly string[]): void;
  /** Rings the terminal's bell. */
  ring(): void;
  close(): void;
}

/** Keys that are no character, by what terminals send for them. */
const NAMED_KEYS: Readonly<Record<string, string>> = {
  '\x1b': 'escape',
  '\x1b[A': 'up',
  '\x1bOA': 'up',
  '\x1b[B': 'down',
  '\x1bOB': 'down',
  '\x1b[5~': 'page up',
  '\x1b[6~': 'page down',
  '\r': 'enter',
  '\n': 'enter',
  '\x7f': 'backspace',
  '\b': 'backspace',
};

export interface LiveEvents {
  /** A character, or the name of a key: "up", "down", "page up", "page down", "enter", "backspace", "escape". */
  key(key: string): void;
  /** The size has changed, or the process was continued. */
  redraw(): void;
}

/** The sequences of arrows and function keys, and characters. */
function keysOf(text: string): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what terminals send for keys.
  return text.match(/\x1b\[[\d;]*[ -/]*[@-~]|\x1bO.|\x1b|[^\x1b]/gu) ?? [];
}

/** No alternate screen: the last picture stays in the scroll-back for later. */
export function openLive(terminal: Terminal, stdin: NodeJS.ReadStream, events: LiveEvents): Live {
  let drawn = 0;
  let open = true;
  const keys = stdin.isTTY === true;
  const acquire = (): void => {
    terminal.control(HIDE_CURSOR);
    if (keys) stdin.setRawMode(true);
  };
  const release = (): void => {
    if (keys) stdin.setRawMode(false);
    terminal.control(SHOW_CURSOR);
  };
  const restart = (): void => {
    if (!open) return;
    // The terminal has wrapped the lines anew: the number of rows they take is unknown.
    drawn = 0;
    terminal.control(CLEAR_SCREEN);
    events.redraw();
  };
  const onKey = (chunk: Buffer): void => {
    for (const key of keysOf(chunk.toString())) {
      if (key === CTRL_C) process.kill(process.pid, 'SIGINT');
      else if (key === CTRL_Z) suspend();
      else events.key(NAMED_KEYS[key] ?? key);
    }
  };
  const suspend = (): void => {
    release();
    process.once('SIGCONT', () => {
      if (open) acquire();
      restart();
    });
    process.kill(process.pid, 'SIGSTOP');
  };
  const ignoreResize = terminal.onResize(restart);
  const close = (): void => {
    if (!open) return;
    open = false;
    ignoreResize();
    process.removeListener('exit', close);
    stdin.removeListener('data', onKey);
    if (keys) stdin.pause();
    release();
  };
  process.once('exit', close);
  exitOnSignals();
  if (keys) stdin.on('data', onKey);
  acquire();
  return {
    draw(lines) {
      const up = drawn === 0 ? '' : `\x1b[${drawn}A\r`;
      // A line that wraps, or one too many, would scroll the picture away. The cursor takes a row.
      const shown = lines
        .slice(0, Math.max(1, terminal.rows - 1))
        .map((line) => clip(terminal.safe(line), terminal.windowColumns));
      const body = shown.map((line) => `${line}${CLEAR_LINE_REST}\n`).join('');
      terminal.control(BEGIN_FRAME + up + body + CLEAR_BELOW + END_FRAME);
      drawn = shown.length;
    },
    ring: () => terminal.control(BELL),
    close,
  };
}
