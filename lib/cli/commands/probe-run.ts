/** One run of a probe: its signals, its live line, and the exit code of its report. */
import { clean, formatBytes } from '../../base/format.ts';
import { readHostMemory } from '../../core/host/meminfo-within.ts';
import { othersSentence } from '../../core/memory/others.ts';
import { isMaximum } from '../../show/render/text/stress.ts';
import type { LayoutReport, ProbeEvent, ProfileReport, StressReport, SweepReport } from '../../types/index.ts';
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

/** Exit code of a run that was aborted without a signal: as if Ctrl-C had been pressed. */
const INTERRUPTED = 130;

type State = (LayoutReport | ProfileReport | StressReport | SweepReport)['state'];

/** null: the signal has the exit code. */
const EXIT_OF_STATE: Readonly<Record<State, number | null>> = {
  complete: EXIT.success,
  limit: EXIT.success,
  'out-of-memory': EXIT.success,
  incomplete: EXIT.negative,
  failed: EXIT.negative,
  lost: EXIT.negative,
  share: EXIT.stopped,
  floor: EXIT.stopped,
  pressure: EXIT.stopped,
  contiguity: EXIT.stopped,
  journal: EXIT.stopped,
  stopped: EXIT.stopped,
  timeout: EXIT.stopped,
  'not-clean': EXIT.stopped,
  aborted: null,
};

/** Exit code of a layout or a profile. */
export function exitOfState({ state }: { state: State }, signalCode: number | null): number {
  return EXIT_OF_STATE[state] ?? signalCode ?? INTERRUPTED;
}

/** Refused steps are results: a sweep looks for sizes that do not fit. It failed if it measured nothing. */
export function sweepExit(report: SweepReport, signalCode: number | null): number {
  const isMeasured = report.steps.some(({ state }) => state === 'ok');
  const isFailed = report.steps.some(({ state }) => state === 'failed');
  return report.state === 'complete' && (isFailed || !isMeasured) ? EXIT.negative : exitOfState(report, signalCode);
}

export function stressExit(report: StressReport, signalCode: number | null): number {
  const code = isMaximum(report) ? EXIT.success : exitOfState(report, signalCode);
  return code === EXIT.success && report.maxBytes <= 0 ? EXIT.negative : code;
}
