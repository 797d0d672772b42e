/** Signals of a command that has results to print: the first asks it to stop, the second ends the process at once. */
import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

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
  const handlers = SIGNALS.map((name) => {
    const handler = (): void => {
      // Exit hooks run; the child that allocates sees that its parent is gone and frees its memory.
      if (exitCode !== null) process.exit(exitCode);
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
