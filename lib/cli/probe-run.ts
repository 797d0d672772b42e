/** A probe between its signals and its live line: both are given back however it ends. */
import { formatBytes } from '../format.ts';
import { hostMemorySync } from '../host-memory.ts';
import type { Context } from './command.ts';
import { onInterrupt } from './interrupt.ts';
import { openProgress, type Progress } from './progress.ts';

export interface Probed<Report> {
  report: Report;
  /** 128 + n where signal n asked it to end; null: none did. */
  signalCode: number | null;
}

/** @param words what the live line says until the first step is done. */
export async function runProbe<Report>(
  context: Context,
  words: string,
  probe: (signal: AbortSignal, live: Progress) => Promise<Report>,
): Promise<Probed<Report>> {
  const interrupt = onInterrupt(() => live.say('Ending: what was measured follows. Once more ends it at once.'));
  const live = openProgress(context, { share: null, etaMs: null, words }, available);
  try {
    return { report: await probe(interrupt.signal, live), signalCode: interrupt.exitCode() };
  } finally {
    live.close();
    interrupt.close();
  }
}

/** Read here, not in the child: it shows the machine also while a step takes its time. */
function available(): string {
  try {
    return `available ${formatBytes(hostMemorySync().available)}`;
  } catch {
    return '';
  }
}
