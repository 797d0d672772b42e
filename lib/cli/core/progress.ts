/**
 * What a long command says on stderr while it works: a line for each step that is done and, on a terminal, one below
 * them that is rewritten in place. Nothing in a pipe under --json, where a script listens and the document has it all.
 */
import { formatDuration } from '../../base/format.ts';
import { dot, meter } from '../../render/options.ts';
import { truncate } from '../../render/text-layout.ts';
import type { Context } from './command.ts';
import { renderOptionsFor } from './terminal.ts';

const CLEAR_LINE = '\r\x1b[K';
/** Often enough to see that something moves, seldom enough to cost nothing: a reading of /proc/meminfo takes 20 µs. */
const REDRAW_MS = 200;

export interface Position {
  /** 0 to 1; null: nobody knows. */
  share: number | null;
  etaMs: number | null;
  /** "step 4 of 12", "held 12.0 GiB". */
  words: string;
}

export interface Progress {
  /** A step is done: `line` is the one for a log. */
  step(line: string, position: Position): void;
  /** A sentence of its own, above the live line. */
  say(sentence: string): void;
  close(): void;
}

/** @param now what to show besides, read anew at each redraw: MemAvailable, and how far it is from the floor. */
export function openProgress({ stderr, json }: Context, first: Position, now: () => string): Progress {
  if (!stderr.isTty) {
    const write = json ? () => undefined : (line: string) => stderr.write(`${line}\n`);
    return { step: (line) => write(line), say: (sentence) => stderr.write(`${sentence}\n`), close: () => undefined };
  }
  const options = renderOptionsFor(stderr, { exact: false, hostName: '' });
  let position = first;
  let open = true;
  const draw = (): void => {
    const { share, etaMs, words } = position;
    const cells = Math.max(8, Math.min(24, options.width - 56));
    const eta = etaMs === null || etaMs < 1 ? null : `about ${formatDuration(etaMs)} left`;
    const text = [words, now(), eta].filter((part) => part !== null && part !== '').join(dot(options));
    const bar = meter(share, 1, cells, 'notice', options);
    stderr.write(`${CLEAR_LINE}${bar} ${truncate(text, stderr.columns - cells - 4)}`);
  };
  const timer = setInterval(draw, REDRAW_MS);
  timer.unref();
  draw();
  const close = (): void => {
    if (!open) return;
    open = false;
    clearInterval(timer);
    process.removeListener('exit', close);
    stderr.write(CLEAR_LINE);
  };
  // Also when a second Ctrl-C ends the process at once: the shell's prompt must not stand behind half a bar.
  process.once('exit', close);
  return {
    step(line, next) {
      position = next;
      stderr.write(`${CLEAR_LINE}${line}\n`);
      if (open) draw();
    },
    say(sentence) {
      stderr.write(`${CLEAR_LINE}${sentence}\n`);
      if (open) draw();
    },
    close,
  };
}
