/** Signals of a command that has results to print: the first asks it to stop, the second ends the process at once. */
import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * A signal so soon after the first is the same one, delivered twice: timeout(1) signals its child and then the whole
 * group, and a terminal's Ctrl-C reaches umaprobe directly and again through npm. A person needs longer.
 */
const SAME_SIGNAL_MS = 100;

export interface Interrupt {
  signal: AbortSignal;
  /** 128 + the number of the first signal; null: there was none. */
  exitCode(): number | null;
  /** Removes the handlers. */
  close(): void;
}

/** @param onFirst is called once, at the first signal. */
export function onInterrupt(onFirst: () => void): Interrupt {
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
      onFirst();
      abort.abort();
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
