/** A picture that is redrawn in place, and the terminal given back as it was, whatever happens. */
import type { Terminal } from './terminal.ts';

const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
/** Terminals that know it show the frame at once; the others ignore it. */
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
  /** The size has changed or the process was continued: draw again. */
  redraw(): void;
}

/** No alternate screen: the last picture stays in the scroll-back, where a user wants it after the fact. */
export function openLive(terminal: Terminal, stdin: NodeJS.ReadStream, events: LiveEvents): Live {
  let drawn = 0;
  let open = true;
  const keys = stdin.isTTY === true;
  const take = (): void => {
    terminal.write(HIDE_CURSOR);
    if (keys) stdin.setRawMode(true);
  };
  const giveBack = (): void => {
    if (keys) stdin.setRawMode(false);
    terminal.write(SHOW_CURSOR);
  };
  const restart = (): void => {
    if (!open) return;
    // Lines have been broken anew by the terminal: how many rows they take now cannot be known.
    drawn = 0;
    terminal.write(CLEAR_SCREEN);
    events.redraw();
  };
  const onKey = (chunk: Buffer): void => {
    const key = chunk.toString('latin1');
    if (key === CTRL_C) process.kill(process.pid, 'SIGINT');
    else if (key === CTRL_Z) suspend();
    else events.key(key);
  };
  const suspend = (): void => {
    giveBack();
    process.once('SIGCONT', () => {
      if (open) take();
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
    giveBack();
  };
  process.once('exit', close);
  if (keys) stdin.on('data', onKey);
  take();
  return {
    draw(lines) {
      const up = drawn === 0 ? '' : `\x1b[${drawn}A\r`;
      const body = lines.map((line) => `${line}${CLEAR_LINE_REST}\n`).join('');
      terminal.write(BEGIN_FRAME + up + body + CLEAR_BELOW + END_FRAME);
      drawn = lines.length;
    },
    close,
  };
}
