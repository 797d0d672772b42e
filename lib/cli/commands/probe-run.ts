/** A probe between its signals and its live line: both are given back however it ends. */
import { clean, formatBytes } from '../../base/format.ts';
import { hostMemorySync } from '../../host/meminfo.ts';
import type { LayoutReport, ProbeOptions, ProbeStart, StressReport, SweepReport } from '../../types/index.ts';
import type { Context } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
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

/** Where nobody sent a signal it was the caller's own: as if Ctrl-C had been pressed. */
const INTERRUPTED = 130;

/**
 * Steps that were refused because they are too large are what the sweep is for. One that measured nothing at all must not
 * look like one that found all well, though.
 */
export function sweepExit({ state, steps }: SweepReport, signalCode: number | null): number {
  switch (state) {
    case 'complete':
      if (steps.some((step) => step.state === 'failed')) return EXIT.no;
      return steps.some((step) => step.state === 'ok') ? EXIT.fine : EXIT.no;
    case 'aborted':
      return signalCode ?? INTERRUPTED;
    case 'stopped':
    case 'timeout':
      return EXIT.stopped;
    case 'lost':
      return EXIT.no;
  }
}

export function layoutExit({ state }: LayoutReport, signalCode: number | null): number {
  switch (state) {
    case 'complete':
      return EXIT.fine;
    case 'incomplete':
    case 'lost':
      return EXIT.no;
    case 'aborted':
      return signalCode ?? INTERRUPTED;
    case 'stopped':
    case 'timeout':
      return EXIT.stopped;
  }
}

export function stressExit({ state, maxBytes }: StressReport, signalCode: number | null): number {
  switch (state) {
    case 'limit':
    case 'out-of-memory':
      return maxBytes > 0 ? EXIT.fine : EXIT.no;
    case 'floor':
    case 'pressure':
    case 'contiguity':
    case 'timeout':
      return EXIT.stopped;
    case 'aborted':
      return signalCode ?? INTERRUPTED;
    case 'failed':
    case 'lost':
      return EXIT.no;
  }
}
