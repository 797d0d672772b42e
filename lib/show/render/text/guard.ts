/** Memory that a guarded program took, and the guard's steps. */
import { clean, formatBytes, formatCount, formatDuration, formatPercent } from '../../../base/format.ts';
import type { GuardReport } from '../../../types/index.ts';
import type { RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { hanging } from '../text-layout.ts';
import { labelled, simulatedBand } from './frame.ts';

const OUTCOMES: Readonly<Record<GuardReport['outcome'], { label: string; style: Style }>> = {
  exited: { label: 'EXITED', style: 'ok' },
  aborted: { label: 'ENDED', style: 'notice' },
  stopped: { label: 'STOPPED', style: 'danger' },
};

export function guardPage(report: GuardReport, options: RenderOptions): string[] {
  const { label, style } = OUTCOMES[report.outcome];
  return [
    ...simulatedBand(report.simulated, options),
    ...labelled(label, style, endText(report), options),
    ...facts(report).flatMap(([name, text]) => hanging(`${name.padEnd(11)}`, text, options.width)),
  ];
}

/** The end without observations: the guard reported them when it acted. */
function endText({ durationMs, exitCode, outcome, signal }: GuardReport): string {
  const time = formatDuration(durationMs);
  if (outcome === 'aborted') return `After ${time}, as asked.`;
  if (signal !== null) return `After ${time}, by ${signal}.`;
  return exitCode === null ? `After ${time}.` : `After ${time}, with exit code ${exitCode}.`;
}

function facts({
  actions,
  after,
  before,
  cpuMs,
  evictedBytes,
  floor,
  highestPressure,
  leftBehind,
  lowest,
  peak,
  readings,
}: GuardReport): (readonly [string, string])[] {
  const bytes = (of: 'available' | 'free'): string =>
    `${formatBytes(before[of])} before, lowest ${formatBytes(lowest[of])}, ${formatBytes(after[of])} after`;
  const gpu = peak.groupGpuBytes === null ? '' : `, ${formatBytes(peak.groupGpuBytes)} on the GPU`;
  return [
    ['available', bytes('available')],
    ['free', bytes('free')],
    ['floor', `${formatBytes(floor.bytes)} of the host's memory: ${floor.from}`],
    ['program', peak.groupBytes === null ? 'not known' : `at most ${formatBytes(peak.groupBytes)}${gpu}`],
    ...(highestPressure === null ? [] : ([['pressure', pressureText(highestPressure)]] as const)),
    ...leftBehind.map(({ bytes, files, where }) => {
      const named = files.length === 0 ? '' : `: ${files.map(clean).join(', ')}`;
      return ['stays', `${formatBytes(bytes)} in ${where}${named}`] as const;
    }),
    ...(evictedBytes === 0
      ? []
      : ([['evicted', `${formatBytes(evictedBytes)} of model files that no process had mapped`]] as const)),
    ['actions', actionText(actions)],
    [
      'guard',
      `${formatCount(readings)} ${readings === 1 ? 'reading' : 'readings'}, ${formatDuration(cpuMs)} of CPU time`,
    ],
  ];
}

/** The share of a time in which no task ran, because all waited for memory. */
function pressureText(highest: number): string {
  const share = formatPercent(highest);
  return share === formatPercent(0) ? 'waiting for memory: never' : `no task ran for at most ${share} of 10 s`;
}

/** "4 × drop, 4 × compact, term". */
function actionText(actions: GuardReport['actions']): string {
  if (actions.length === 0) return 'none';
  const counts = new Map<string, number>();
  for (const { action, dryRun } of actions) {
    const name = dryRun ? `${action} (not done)` : action;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => (count === 1 ? name : `${count} × ${name}`)).join(', ');
}
