/** One run of a probe: its signals, its live line, and the exit code of its report. */
import { clean, formatBytes } from '../../base/format.ts';
import { readHostMemory } from '../../core/host/meminfo-within.ts';
import { othersSentence } from '../../core/memory/others.ts';
import type { LayoutReport, ProbeEvent, StressReport, SweepReport } from '../../types/index.ts';
import type { Context } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { onInterrupt } from '../core/interrupt.ts';
import { openProgress, type Progress } from '../core/progress.ts';

export interface ProbeOutcome<Report> {
  report: Report;
  /** 128 + the number of the signal that stopped the probe; null: there was none. */
  signalCode: number | null;
}

export interface ProbeLine {
  signal: AbortSignal;
  /** Says what is to be known before the first step, and what it waits for. */
  prepared(event: ProbeEvent): void;
  live: Progress;
}

/** @param label of the live line until the first step is done. */
export async function runProbe<Report>(
  context: Context,
  label: string,
  probe: (run: ProbeLine) => Promise<Report>,
): Promise<ProbeOutcome<Report>> {
  const interrupt = onInterrupt(() =>
    live.print('Stopping: the results so far follow. Press Ctrl-C again to end at once.'),
  );
  let floor: number | null = null;
  const live = openProgress(
    context,
    { share: null, etaMs: null, label },
    availableMeter(() => floor),
  );
  const prepared = (event: ProbeEvent): void => {
    if (event.type === 'writing') {
      if (!context.json) live.print(`${formatBytes(event.dirtyBytes)} of changed files are written to disk first.`);
      return;
    }
    const { journalNotes, unfinished, ...start } = event;
    floor = start.floor?.bytes ?? null;
    for (const note of journalNotes) live.print(`note: ${clean(note)}`);
    // It is printed before the first step: it may be a reason to stop this run. The report has it again.
    if (unfinished !== null && !context.json) live.print(clean(unfinished.sentence));
    const others = othersSentence(start.others, { ...start, model: start.memoryModel });
    if (others !== null && !context.json) live.print(others);
  };
  try {
    return { report: await probe({ signal: interrupt.signal, prepared, live }), signalCode: interrupt.exitCode() };
  } finally {
    live.close();
    interrupt.close();
  }
}

/**
 * MemAvailable as of the call before, and a new reading for the next one: nothing waits for /proc/meminfo. Read in this
 * process, because the child is busy during a long step.
 */
function availableMeter(floor: () => number | null): () => string {
  let bytes: number | null | undefined;
  let isReading = false;
  const read = async (): Promise<void> => {
    isReading = true;
    const host = await readHostMemory().catch(() => undefined);
    bytes = host?.available;
    isReading = false;
  };
  return () => {
    if (!isReading) void read();
    if (bytes === undefined) return '';
    const above = bytes === null || floor() === null ? '' : `, ${formatBytes(bytes - (floor() ?? 0))} above the floor`;
    return `available ${formatBytes(bytes)}${above}`;
  };
}

/** Exit code of a probe that was aborted without a signal: as if Ctrl-C had been pressed. */
const INTERRUPTED = 130;

/** Refused steps are results: a sweep looks for sizes that do not fit. It failed if it measured nothing. */
export function sweepExit({ state, steps }: SweepReport, signalCode: number | null): number {
  switch (state) {
    case 'complete':
      if (steps.some((step) => step.state === 'failed')) return EXIT.negative;
      return steps.some((step) => step.state === 'ok') ? EXIT.success : EXIT.negative;
    case 'aborted':
      return signalCode ?? INTERRUPTED;
    case 'stopped':
    case 'timeout':
      return EXIT.stopped;
    case 'lost':
      return EXIT.negative;
  }
}

export function layoutExit({ state }: LayoutReport, signalCode: number | null): number {
  switch (state) {
    case 'complete':
      return EXIT.success;
    case 'incomplete':
    case 'lost':
      return EXIT.negative;
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
      return maxBytes > 0 ? EXIT.success : EXIT.negative;
    case 'share':
    case 'floor':
    case 'pressure':
    case 'contiguity':
    case 'journal':
    case 'timeout':
      return EXIT.stopped;
    case 'aborted':
      return signalCode ?? INTERRUPTED;
    case 'failed':
    case 'lost':
      return EXIT.negative;
  }
}
