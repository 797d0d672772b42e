/** The page of a stress test: the maximum and its limit, the memory held step by step, and its return. */
import { clean, formatBoth, formatDuration, formatPercent, GiB, inGiB } from '../../../base/format.ts';
import type { StressReport, StressState, StressStep } from '../../../types/index.ts';
import { tickText } from '../axis.ts';
import { kindLetter, kindStyle } from '../kinds.ts';
import { ms, NOTHING, sentence, sizeText } from '../numbers.ts';
import type { RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { plot } from '../plot.ts';
import { hanging, table } from '../text-layout.ts';
import { sections } from './frame.ts';
import { firstLines, outcomeLines, probeHeader, settledLines } from './probe-header.ts';

/** @param full every step, and the picture. */
export function stressPage(report: StressReport, options: RenderOptions, { full = false } = {}): string[] {
  return sections(
    firstLines(report, answerLines(report, options), options),
    probeHeader(report, options),
    stepsTable(report, full, options),
    full ? heldPlot(report, options) : [],
    [...factLines(report, full, options), ...settledLines(report.settled, options)],
  );
}

/** Rows of the short table. A search near its edge takes many small steps: the first and the last ones tell how it went. */
const SHOWN = { first: 2, last: 3 } as const;

function stepsTable({ steps, kind, mode }: StressReport, full: boolean, options: RenderOptions): string[] {
  const columns: readonly (readonly [head: string, cell: (step: StressStep, index: number) => string | null])[] = [
    ['step', (_, index) => String(index + 1)],
    [mode === 'single' ? 'block' : 'added', (step) => sizeText(step.requestedBytes)],
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
  // A column in which no step has a value is left out.
  const used = columns.filter(([, cell]) => steps.some((step, index) => cell(step, index) !== null));
  const rows = steps.map((step, index) => used.map(([, cell]) => cell(step, index) ?? NOTHING));
  const lines = table(
    used.map(([head]) => (head === '' ? 'left' : 'right')),
    [used.map(([head]) => options.paint('dim', head)), ...rows],
    options.cut,
  );
  const hidden = steps.length - SHOWN.first - SHOWN.last;
  const shown =
    full || hidden <= 1
      ? lines
      : [
          ...lines.slice(0, 1 + SHOWN.first),
          options.paint('dim', `${options.unicode ? '…' : '...'} ${hidden} more (--full)`),
          ...lines.slice(-SHOWN.last),
        ];
  const goal = mode === 'single' ? 'the largest single block' : 'as much as possible, in steps';
  const failed = steps.filter((step) => step.reason !== null && step.state === 'failed');
  return [
    `${options.paint(kindStyle(kind), `${kindLetter(kind)} ${kind}`)}${options.paint('dim', `  ${goal}`)}`,
    ...shown,
    ...failed.flatMap((step) => hanging('failed  ', clean(step.reason ?? ''), options.width)),
  ];
}

/** Held memory and MemAvailable over the steps, with the floor at which the search ends. */
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
      steps: true,
      yUnit: GiB,
      xText: (step) => `step ${step}`,
      yText: (bytes) => `${tickText(bytes / GiB)} GiB`,
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
          failed: report.steps.flatMap((step, index) => (step.state === 'ok' ? [] : [index + 1])),
        },
      ],
    },
    options,
  );
}

function factLines(report: StressReport, full: boolean, options: RenderOptions): string[] {
  const { guard, verified, holdMs } = report;
  const rows: [string, string][] = [
    ['Time', `${formatDuration(report.durationMs)}, including ${formatDuration(report.cudaMs)} in CUDA`],
  ];
  // The header has its size.
  if (full && report.floor !== null)
    rows.unshift(['Floor', `${formatBoth(report.floor.bytes)}, ${clean(report.floor.from)}`]);
  if (report.share !== null && report.device.memoryModel !== 'unified')
    rows.unshift(['Share', `${formatBoth(report.share.bytes)} for the GPU's other users, ${clean(report.share.from)}`]);
  if (verified !== null) {
    const result =
      verified.mismatches === 0
        ? 'every byte was correct'
        : `${verified.mismatches} wrong bytes, the first at offset ${verified.firstMismatch ?? 'unknown'}`;
    rows.push(['Verified', `${formatBoth(verified.bytes)} written and read back by the GPU: ${result}`]);
  }
  if (holdMs >= 1) rows.push(['Held', formatDuration(holdMs)]);
  if (guard !== null) rows.push(['Guard', guardText(guard)]);
  return rows.flatMap(([label, text]) => hanging(label.padEnd(13), text, options.width));
}

/** Cause of the guard's trip, its reading and its step. */
function guardText(guard: NonNullable<StressReport['guard']>): string {
  const readings = [
    guard.memAvailable === null ? null : `MemAvailable ${inGiB(guard.memAvailable)} GiB`,
    guard.pressureFull === null
      ? null
      : `all programs waited for memory ${formatPercent(guard.pressureFull)} of the time`,
  ].filter((part) => part !== null);
  const trip = `tripped by ${guard.reason}${readings.length === 0 ? '' : ` (${readings.join(', ')})`}`;
  if (guard.left) return `${trip}: the process exited at once`;
  const stopped = durationText(guard.stoppedAfterMs);
  return `${trip}: allocation stopped ${stopped}, all memory freed ${durationText(guard.freedAfterMs)} after the reading`;
}

function durationText(ms: number | null): string {
  return ms === null ? 'at an unknown time' : formatDuration(ms);
}

const STATE_STYLES: Readonly<Record<StressState, Style>> = {
  limit: 'ok',
  'out-of-memory': 'ok',
  share: 'ok',
  floor: 'notice',
  pressure: 'warning',
  contiguity: 'warning',
  journal: 'warning',
  aborted: 'warning',
  timeout: 'warning',
  failed: 'danger',
  lost: 'danger',
};

function answerLines(report: StressReport, options: RenderOptions): string[] {
  const text = `${maximumText(report)}: ${sentence(report.boundBy)}`;
  const [label, style] = isMaximum(report) ? (['maximum', 'ok'] as const) : [report.state, STATE_STYLES[report.state]];
  return outcomeLines(label, style, text, options, advice(report));
}

/** Whether the search ended by itself: the next step was refused, and nothing stopped it. */
export function isMaximum({ guard, state }: Pick<StressReport, 'guard' | 'state'>): boolean {
  return guard === null && (state === 'floor' || state === 'share' || state === 'out-of-memory');
}

/** States in which the search ended before it had come to the maximum. */
const EARLY: ReadonlySet<StressState> = new Set(['pressure', 'journal', 'aborted', 'timeout', 'failed', 'lost']);

/** "27.63 GiB (29.66 GB) can be allocated". */
function maximumText({ maxBytes, mode, state }: StressReport): string {
  const block = mode === 'single' ? ' in one block' : '';
  if (maxBytes === 0) return `nothing could be allocated${block}`;
  return `${EARLY.has(state) ? 'at least ' : ''}${formatBoth(maxBytes)} can be allocated${block}`;
}

/** The next step or command; null: none. */
export function advice({ guard, maxBytes, state, verified }: StressReport): string | null {
  switch (state) {
    case 'floor':
      if (maxBytes === 0) return 'stop what holds the memory (umaprobe shows it), then try again';
      return guard === null ? null : 'another program took memory meanwhile: umaprobe watch shows which';
    case 'pressure':
      return 'wait until the pressure is gone (umaprobe watch), then try again';
    case 'contiguity':
      return 'umaprobe cache compact; if that does not help, reboot';
    case 'lost':
      return 'the journal has the last step: umaprobe stress --resume';
    case 'failed':
      return verified !== null && verified.mismatches > 0
        ? 'umaprobe doctor; wrong bytes point to faulty memory or a faulty driver'
        : 'umaprobe doctor';
    case 'timeout':
      return 'try a longer --timeout';
    case 'journal': // its sentence says what to do
    case 'share':
      return 'stop the other users, or leave them less: --share';
    case 'limit':
    case 'out-of-memory':
    case 'aborted':
      return null;
  }
}

/** One step as a line of a log. */
export function stressStepLine(step: StressStep, number: number): string {
  const name = `${String(number).padStart(3)}  ${sizeText(step.requestedBytes).padStart(9)}`;
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
