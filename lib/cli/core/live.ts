/** A picture that is redrawn in place; the terminal is restored however the process ends. */
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

const CTRL_C = '\x03';
const CTRL_Z = '\x1a';

export interface Live {
  draw(lines: readonly string[]): void;
  close(): void;
}

export interface LiveEvents {
  key(key: string): void;
  /** The size has changed, or the process was continued. */
  redraw(): void;
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
    const keys = chunk.toString('latin1');
    // An arrow or a function key: its letters are none of ours.
    if (keys.startsWith('\x1b')) return;
    for (const key of keys) {
      if (key === CTRL_C) process.kill(process.pid, 'SIGINT');
      else if (key === CTRL_Z) suspend();
      else events.key(key);
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
      const body = lines.map((line) => `${terminal.safe(line)}${CLEAR_LINE_REST}\n`).join('');
      terminal.control(BEGIN_FRAME + up + body + CLEAR_BELOW + END_FRAME);
      drawn = lines.length;
    },
    close,
  };
}
