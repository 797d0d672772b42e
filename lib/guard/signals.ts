/** Signals of this process that are for the guarded program. */

import { constants } from 'node:os';
import type { ControlLines } from './control.ts';

/** Signals that a program would get if it ran without the guard. */
const FORWARDED = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGTSTP', 'SIGUSR1', 'SIGUSR2'] as const;

export interface ForwardedSignals {
  /** As the program is stopped: the shell then has its job back. */
  stopThisProcess(): void;
  unlisten(): void;
}

/** Has the native guard send each of them to the program, until `unlisten` is called. */
export function forwardSignals(tty: boolean, control: ControlLines): ForwardedSignals {
  const handlers = FORWARDED.map((name) => [name, () => control.write(`signal ${constants.signals[name]}`)] as const);
  const listenFor = (act: 'on' | 'removeListener', only?: NodeJS.Signals): void => {
    for (const [name, handler] of handlers) if (only === undefined || only === name) process[act](name, handler);
  };
  listenFor('on');
  return {
    stopThisProcess: () => {
      // By the signal that a shell expects of Ctrl-Z; without a terminal the kernel may ignore that one.
      if (!tty) return void process.kill(process.pid, 'SIGSTOP');
      listenFor('removeListener', 'SIGTSTP');
      process.kill(process.pid, 'SIGTSTP');
      listenFor('on', 'SIGTSTP');
    },
    unlisten: () => listenFor('removeListener'),
  };
}
