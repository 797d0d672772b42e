/** Numbers and names of signals. */

import { constants } from 'node:os';

/** Number of glibc; Node does not name these signals. */
const SIGRTMIN = 34;

/** "SIGTERM", "SIGRTMIN+2". */
export function signalName(number: number): string {
  const name = Object.entries(constants.signals).find(([, each]) => each === number)?.[0];
  if (name !== undefined) return name;
  return number < SIGRTMIN ? `signal ${number}` : `SIGRTMIN+${number - SIGRTMIN}`;
}

/** 0: there is no such signal. */
export function signalNumber(name: string): number {
  const offset = /^(?:SIGRTMIN\+|signal )(\d+)$/.exec(name)?.[1];
  if (offset !== undefined) return Number(offset) + (name.startsWith('SIGRT') ? SIGRTMIN : 0);
  return constants.signals[name as NodeJS.Signals] ?? 0;
}
