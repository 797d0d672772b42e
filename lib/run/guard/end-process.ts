/** Ends one process that a person has chosen, and never another one that has its pid meanwhile. */

import { systemText } from '../../base/system-file.ts';
import { isAlive, type ProcessId, processName, startTicks } from '../../core/host/process.ts';
import type { ProcessesReport, ResultWord } from '../../types/index.ts';
import { whyNeverStopped } from './policy.ts';
import { refusedPid } from './refusals.ts';

/** A process as a person is asked about it. */
export interface ChosenProcess extends ProcessId {
  startTicks: number;
  name: string;
  /** Time of its start, ISO 8601, UTC; null: the kernel does not say when it began. */
  startedAt: string | null;
}

/** Ticks of a second in /proc: USER_HZ, which is 100 on x64 and arm64. */
const TICK_MS = 10;

/** null: it has ended, or it is one of a simulated machine. */
export function chooseProcess(pid: number): ChosenProcess | null {
  const ticks = startTicks(pid);
  if (ticks === null) return null;
  const boot = /^btime (\d+)$/m.exec(systemText('/proc/stat'))?.[1];
  const startedAt = boot === undefined ? null : new Date(Number(boot) * 1000 + ticks * TICK_MS).toISOString();
  return { pid, startTicks: ticks, name: processName(pid) ?? String(pid), startedAt };
}

/** Clause why it is not ended: `guard` refuses the target, or `guard --system` never stops it. null: none. */
export function whyNotEnded(pid: number, report: Pick<ProcessesReport, 'groups' | 'processes'>): string | null {
  return refusedPid(pid) ?? whyNeverStopped(pid, report);
}

/** `exited`: a process that has its pid now is left alone. `refused`: this user may not. */
export type SignalSent = Extract<ResultWord, 'ok' | 'exited' | 'refused'>;

/** Compares the start time right before it sends the signal. */
export function signalProcess(process: ChosenProcess, signal: 'SIGTERM' | 'SIGKILL'): SignalSent {
  if (!isAlive(process)) return 'exited';
  try {
    globalThis.process.kill(process.pid, signal);
    return 'ok';
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'ESRCH') return 'exited';
    if (code === 'EPERM') return 'refused';
    throw error;
  }
}

export { isAlive } from '../../core/host/process.ts';
