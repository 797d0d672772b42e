/** Signals of a command that has something to finish: the first asks it to come to an end, the second ends it at once. */
import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Interrupt {
  signal: AbortSignal;
  /** 128 + the number of the signal that came first; null: none has. */
  exitCode(): number | null;
  /** Leaves the signals to whoever had them before. */
  close(): void;
}

/** @param told is called once, at the first signal. */
export function onInterrupt(told: () => void): Interrupt {
  const abort = new AbortController();
  let exitCode: number | null = null;
  const handlers = SIGNALS.map((name) => {
    const handler = (): void => {
      // The exit hooks run; the child that allocates sees that its parent has gone and gives its memory back.
      if (exitCode !== null) process.exit(exitCode);
      exitCode = 128 + constants.signals[name];
      told();
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
