/**
 * Progress of a long command on stderr: a line for each finished step and, on a terminal, a live line below them. There
 * are no such lines with --json and no terminal: the document has every step.
 */
import { formatDuration } from '../../base/format.ts';
import { dot, meter } from '../../show/render/options.ts';
import { truncate, wrap } from '../../show/render/text-layout.ts';
import type { Context } from './command.ts';
import { exitOnSignals } from './interrupt.ts';
import { renderOptionsFor } from './terminal.ts';

const CLEAR_LINE = '\r\x1b[K';
/** Interval of redraws: smooth enough for a person, and a reading of /proc/meminfo takes only 20 µs. */
const REDRAW_MS = 200;

export interface Position {
  /** 0 to 1; null: unknown. */
  share: number | null;
  etaMs: number | null;
  /** "step 4 of 12", "held 12.0 GiB". */
  label: string;
}

export interface Progress {
  /** Logs a finished step. */
  step(line: string, position: Position): void;
  /** Prints a sentence above the live line. */
  print(sentence: string): void;
  close(): void;
}

/** @param now text read anew at each redraw: MemAvailable, and its distance from the floor. */
export function openProgress({ stderr, json }: Context, first: Position, now: () => string): Progress {
  if (!stderr.isTty) {
    const write = json ? () => undefined : (line: string) => stderr.write(`${line}\n`);
    return { step: (line) => write(line), print: (sentence) => stderr.write(`${sentence}\n`), close: () => undefined };
  }
  const options = renderOptionsFor(stderr, { exact: false, hostName: '' });
  let position = first;
  let open = true;
  const draw = (): void => {
    const { share, etaMs, label } = position;
    const cells = Math.max(8, Math.min(24, stderr.columns - 56));
    const eta = etaMs === null || etaMs < 1 ? null : `about ${formatDuration(etaMs)} left`;
    const text = [label, now(), eta].filter((part) => part !== null && part !== '').join(dot(options));
    const bar = meter(share, 1, cells, 'notice', options);
    stderr.control(CLEAR_LINE);
    stderr.write(`${bar} ${truncate(text, stderr.columns - cells - 4)}`);
  };
  const timer = setInterval(draw, REDRAW_MS);
  timer.unref();
  draw();
  const close = (): void => {
    if (!open) return;
    open = false;
    clearInterval(timer);
    process.removeListener('exit', close);
    stderr.control(CLEAR_LINE);
  };
  // A second Ctrl-C ends the process at once: the shell's prompt must not follow half a bar.
  process.once('exit', close);
  exitOnSignals();
  return {
    step(line, next) {
      position = next;
      stderr.control(CLEAR_LINE);
      stderr.write(`${truncate(line, stderr.columns)}\n`);
      if (open) draw();
    },
    print(sentence) {
      stderr.control(CLEAR_LINE);
      stderr.write(`${wrap(sentence, stderr.columns).join('\n')}\n`);
      if (open) draw();
    },
    close,
  };
}
