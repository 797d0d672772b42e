/** The report of a stress test: what was held step by step, the most there was, what bound it, what came back. */
import { clean, formatBoth, formatDuration, formatPercent, inGiB } from '../../base/format.ts';
import type { StressReport, StressState, StressStep } from '../../types/index.ts';
import { kindLetter, kindStyle } from '../kinds.ts';
import { ms, NOTHING, sentence, sizeWords } from '../numbers.ts';
import type { RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { plot } from '../plot.ts';
import { hanging, table } from '../text-layout.ts';
import { closing, probeHeader, sections, settledLines, unfinishedLines } from './probe-header.ts';

export function stressPage(report: StressReport, options: RenderOptions): string[] {
  return sections(
    probeHeader(report, options),
    unfinishedLines(report, options),
    stepsTable(report, options),
    heldPlot(report, options),
    facts(report, options),
    settledLines(report.settled, options),
    ending(report, options),
  );
}

/** A search near its edge takes many small steps; the first and the last ones tell how it went. */
const SHOWN = { first: 12, last: 12 } as const;

function stepsTable({ steps, kind, mode }: StressReport, options: RenderOptions): string[] {
  const last = steps.length - 1;
  const columns: readonly (readonly [head: string, cell: (step: StressStep, index: number) => string | null])[] = [
    ['step', (_, index) => String(index + 1)],
    [mode === 'single' ? 'block' : 'added', (step) => sizeWords(step.requestedBytes)],
    ['held GiB', (step) => inGiB(step.heldBytes)],
    ['alloc ms', (step) => (step.allocMs === null ? null : ms(step.allocMs))],
    ['touch ms', (step) => (step.touchMs === null ? null : ms(step.touchMs))],
    ['verify ms', (step) => (step.verifyMs === null ? null : ms(step.verifyMs))],
    ['available GiB', (step) => inGiB(step.memAvailable)],
    [
      '',
      (step) => (step.state === 'ok' ? '' : options.paint(step.state === 'failed' ? 'danger' : 'notice', step.state)),
    ],
  ];
  // What no step did (touching, verifying) needs no column.
  const used = columns.filter(([, cell]) => steps.some((step, index) => cell(step, index) !== null));
  const rows = steps.map((step, index) => used.map(([, cell]) => cell(step, index) ?? NOTHING));
  const left = steps.length - SHOWN.first - SHOWN.last;
  const shown =
    left <= 1
      ? rows
      : [
          ...rows.slice(0, SHOWN.first),
          [options.paint('dim', `${options.unicode ? '…' : '...'} ${left} more`)],
          ...rows.slice(last + 1 - SHOWN.last),
        ];
  const how = mode === 'single' ? 'the largest single block' : 'as much as there is, in steps';
  const failed = steps.filter((step) => step.reason !== null && step.state === 'failed');
  return [
    `${options.paint(kindStyle(kind), `${kindLetter(kind)} ${kind}`)}${options.paint('dim', `  ${how}`)}`,
    ...table(
      used.map(([head]) => ({ align: head === '' ? 'left' : 'right' })),
      [used.map(([head]) => options.paint('dim', head)), ...shown],
      options.width,
    ),
    ...failed.flatMap((step) => hanging('failed  ', clean(step.reason ?? ''), options.width)),
  ];
}

/** Held memory and what was left of the host's, over the steps: where the lines meet the floor the search ends. */
function heldPlot(report: StressReport, options: RenderOptions): string[] {
  const points = (value: (step: StressStep) => number | null): (readonly [number, number])[] =>
    report.steps.flatMap((step, index) => {
      const y = value(step);
      return y === null ? [] : [[index + 1, y] as const];
    });
  if (report.steps.length < 3) return [];
  const floor = report.floor;
  return plot(
    {
      title: 'Over the steps',
      linear: true,
      xName: 'steps',
      yName: 'memory',
      xWords: (step) => `step ${Math.round(step)}`,
      yWords: (bytes) => `${inGiB(bytes)} GiB`,
      series: [
        ...(floor === null
          ? []
          : [{ letter: '-', name: 'floor', style: 'danger' as const, points: points(() => floor.bytes), bare: true }]),
        { letter: 'a', name: 'MemAvailable', style: 'notice', points: points((step) => step.memAvailable) },
        {
          letter: kindLetter(report.kind),
          name: 'held',
          style: kindStyle(report.kind),
          points: points((step) => step.heldBytes),
        },
      ],
    },
    options,
  );
}

function facts(report: StressReport, options: RenderOptions): string[] {
  const { guard, verified, holdMs } = report;
  const rows: [string, string][] = [
    ['Time', `${formatDuration(report.durationMs)}, of it ${formatDuration(report.cudaMs)} in CUDA`],
  ];
  if (report.floor !== null) rows.unshift(['Floor', `${formatBoth(report.floor.bytes)}, ${clean(report.floor.from)}`]);
  if (verified !== null) {
    const wrong =
      verified.mismatches === 0
        ? 'no byte was wrong'
        : `${verified.mismatches} wrong bytes, the first at offset ${verified.firstMismatch ?? 'unknown'}`;
    rows.push(['Verified', `${formatBoth(verified.bytes)} written and read back by the GPU: ${wrong}`]);
  }
  if (holdMs >= 1) rows.push(['Held', formatDuration(holdMs)]);
  if (guard !== null) {
    const saw = [
      guard.memAvailable === null ? null : `MemAvailable ${inGiB(guard.memAvailable)} GiB`,
      guard.pressureFull === null ? null : `pressure full ${formatPercent(guard.pressureFull)}`,
    ].filter((part) => part !== null);
    const did = guard.left
      ? 'the process left at once'
      : `allocation stopped ${duration(guard.stoppedAfterMs)}, all of it freed ${duration(guard.freedAfterMs)} after the reading`;
    rows.push(['Guard', `tripped by ${guard.reason}${saw.length === 0 ? '' : ` (${saw.join(', ')})`}: ${did}`]);
  }
  return rows.flatMap(([name, words]) => hanging(name.padEnd(13), words, options.width));
}

function duration(ms: number | null): string {
  return ms === null ? 'at an unknown time' : formatDuration(ms);
}

const STYLES: Readonly<Record<StressState, Style>> = {
  limit: 'ok',
  'out-of-memory': 'ok',
  floor: 'notice',
  pressure: 'warning',
  contiguity: 'warning',
  aborted: 'warning',
  timeout: 'warning',
  failed: 'danger',
  lost: 'danger',
};

function ending(report: StressReport, options: RenderOptions): string[] {
  const what = report.mode === 'single' ? 'Largest single block' : 'Maximum';
  const words = `${what} ${formatBoth(report.maxBytes)}: ${sentence(report.boundBy)}`;
  return closing(report.state, STYLES[report.state], words, advice(report), options);
}

/** What to do or to type next, where there is something. */
export function advice({ guard, maxBytes, state, verified }: StressReport): string | null {
  switch (state) {
    case 'floor':
      if (maxBytes === 0) return 'stop what holds the memory (umaprobe shows it), then again';
      return guard === null ? null : 'something else took memory meanwhile: umaprobe watch shows what';
    case 'pressure':
      return 'let the machine come to rest (umaprobe watch), then again';
    case 'contiguity':
      return 'umaprobe cache compact; where that brings little, reboot';
    case 'lost':
      return 'the journal knows how far it came: umaprobe stress --resume';
    case 'failed':
      return verified !== null && verified.mismatches > 0
        ? 'umaprobe doctor; wrong bytes point to the memory or the driver'
        : 'umaprobe doctor';
    case 'timeout':
      return 'a longer --timeout';
    case 'limit':
    case 'out-of-memory':
    case 'aborted':
      return null;
  }
}

/** One step as a line of a log. */
export function stressStepLine(step: StressStep, number: number): string {
  const name = `${String(number).padStart(3)}  ${sizeWords(step.requestedBytes).padStart(9)}`;
  const held = `held ${inGiB(step.heldBytes).padStart(6)} GiB`;
  const times = [
    ['alloc', step.allocMs],
    ['touch', step.touchMs],
    ['verify', step.verifyMs],
  ] as const;
  const parts = [
    held,
    step.memAvailable === null ? null : `available ${inGiB(step.memAvailable).padStart(6)} GiB`,
    ...times.map(([what, value]) => (value === null ? null : `${what} ${ms(value)} ms`)),
    step.state === 'ok' ? null : `${step.state}: ${clean(step.reason ?? 'unknown')}`,
  ];
  return [name, ...parts.filter((part) => part !== null)].join('  ');
}
