/** Effect of a signal: ends the process, with its exit hooks, or asks a command with results to stop. */
import { constants } from 'node:os';
import { signalNumber } from '../../base/signals.ts';
import { endBySignal } from '../../core/host/end-by-signal.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

let exits = false;

/**
 * Makes a signal end this process by process.exit() from now on, so that its exit hooks run: they remove the files of a
 * simulated machine, and restore the terminal. If a command has a handler of its own, that handler alone decides.
 *
 * Only a process with an exit hook needs it: a handler runs on the JavaScript thread, and would keep a process alive
 * that waits there for a file which never answers. The kernel ends a process without one.
 */
export function exitOnSignals(): void {
  if (exits) return;
  exits = true;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal]);
    });
  }
}

/**
 * Ends this process, once its exit hooks have run, by the signal that ended its program: a shell then says and does the
 * same as without umaprobe.
 *
 * @returns 128 + its number, for a signal that does not end it.
 */
export function exitBySignal(name: string): number {
  const number = signalNumber(name);
  if (number !== 0) process.on('exit', () => endBySignal(number));
  return 128 + number;
}

/**
 * A signal so soon after the first is the same one, delivered twice: timeout(1) signals its child and then the whole
 * group, and a terminal's Ctrl-C reaches umaprobe directly and again through npm. A person needs longer.
 */
const SAME_SIGNAL_MS = 100;

/** The reason of an interrupt's signal: a command that is ended by it ends with its exit code. */
export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super('interrupted');
    this.exitCode = exitCode;
  }
}

export interface Interrupt {
  signal: AbortSignal;
  /** 128 + the number of the first signal; null: there was none. */
  exitCode(): number | null;
  /** Removes the handlers. */
  close(): void;
}

/** @param onFirst is called once, at the first signal, with the exit code that stands for it. */
export function onInterrupt(onFirst: (exitCode: number) => void = () => undefined): Interrupt {
  const abort = new AbortController();
  let exitCode: number | null = null;
  let firstAt = 0;
  const handlers = SIGNALS.map((name) => {
    const handler = (): void => {
      // Exit hooks run; the child that allocates sees that its parent is gone and frees its memory.
      if (exitCode !== null) {
        if (performance.now() - firstAt < SAME_SIGNAL_MS) return;
        process.exit(exitCode);
      }
      firstAt = performance.now();
      exitCode = 128 + constants.signals[name];
      onFirst(exitCode);
      abort.abort(new Interrupted(exitCode));
    };
    process.on(name, handler);
    return [name, handler] as const;
  });
  return {
    signal: abort.signal,
    exitCode: () => exitCode,
    close() {
      for (const [name, handler] of handlers) process.removeListener(name, handler);
    },
  };
}
