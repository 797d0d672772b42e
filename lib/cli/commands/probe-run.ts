/** A probe between its signals and its live line: both are given back however it ends. */
import { formatBytes } from '../../base/format.ts';
import { hostMemorySync } from '../../host/meminfo.ts';
import { clean } from '../../render/text-layout.ts';
import type { ProbeOptions, ProbeStart } from '../../types/index.ts';
import type { Context } from '../core/command.ts';
import { onInterrupt } from '../core/interrupt.ts';
import { openProgress, type Progress } from '../core/progress.ts';

export interface Probed<Report> {
  report: Report;
  /** 128 + n where signal n asked it to end; null: none did. */
  signalCode: number | null;
}

/** @param words what the live line says until the first step is done. */
export async function runProbe<Report>(
  context: Context,
  words: string,
  probe: (shared: Pick<ProbeOptions, 'signal' | 'onStart'>, live: Progress) => Promise<Report>,
): Promise<Probed<Report>> {
  const interrupt = onInterrupt(() => live.say('Ending: what was measured follows. Once more ends it at once.'));
  let floor: number | null = null;
  const live = openProgress(context, { share: null, etaMs: null, words }, () => available(floor));
  const onStart = ({ unfinished, ...start }: ProbeStart): void => {
    floor = start.floor?.bytes ?? null;
    // Before the first step: it may be the reason to end this run, too. The report says it again.
    if (unfinished !== null && !context.json) live.say(clean(unfinished.sentence));
  };
  try {
    return { report: await probe({ signal: interrupt.signal, onStart }, live), signalCode: interrupt.exitCode() };
  } finally {
    live.close();
    interrupt.close();
  }
}

/** Read here, not in the child: it shows the machine also while a step takes its time. */
function available(floor: number | null): string {
  try {
    const bytes = hostMemorySync().available;
    const above = bytes === null || floor === null ? '' : `, ${formatBytes(bytes - floor)} above the floor`;
    return `available ${formatBytes(bytes)}${above}`;
  } catch {
    return '';
  }
}
