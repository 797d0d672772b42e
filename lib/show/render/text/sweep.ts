/** The page of a sweep: the outcome, one table per kind, the counters that moved, and two plots. */
import { capitalized, clean } from '../../../base/format.ts';
import type { AllocatorKind, SweepReport, SweepStep } from '../../../types/index.ts';
import { tickText } from '../axis.ts';
import { countersTable } from '../counters.ts';
import { KIND_WIDTH, kindLetter, kindStyle } from '../kinds.ts';
import { median, msColumn, rate, sentence, sizeText, sizeUnit } from '../numbers.ts';
import type { RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { plot, type Series } from '../plot.ts';
import { isFailed, isMeasured, timeToUse } from '../sweep-steps.ts';
import { hanging, table } from '../text-layout.ts';
import { sections } from './frame.ts';
import { firstLines, outcomeLines, probeHeader, unsupportedLines } from './probe-header.ts';

/** @param full the counters that moved and the pictures, too. */
export function sweepPage(report: SweepReport, options: RenderOptions, { full = false } = {}): string[] {
  const kinds = kindsOf(report);
  return sections(
    firstLines(report, answerLines(report, options), options),
    probeHeader(report, options),
    ...kinds.map((kind) => kindTable(report, kind, options)),
    unsupportedLines(report.kinds, new Set(report.steps.map(({ kind }) => kind)), options),
    report.spills.flatMap(({ sentence }) => hanging('spill  ', clean(sentence), options.width)),
    ...(full ? pictures(report, kinds, options) : []),
  );
}

function pictures(report: SweepReport, kinds: readonly AllocatorKind[], options: RenderOptions): string[][] {
  return [
    countersTable(report.steps, options),
    plot({ ...TIME_PLOT, ...sizeAxis(report), series: seriesOf(report, kinds, timeToUse) }, options),
    plot({ ...RATE_PLOT, ...sizeAxis(report), series: seriesOf(report, kinds, (step) => step.gbPerSecond) }, options),
  ];
}

const TIME_PLOT = { title: 'Time to allocate and write once', yText: (value: number) => `${tickText(value)} ms` };
const RATE_PLOT = { title: 'Bandwidth of the second touch', yText: (value: number) => `${tickText(value)} GB/s` };

function sizeAxis({ steps }: SweepReport) {
  const { unit, binary } = sizeUnit(steps.map(({ requestedBytes }) => requestedBytes));
  return { xUnit: unit, binary, xText: sizeText };
}

/** The kinds of a report, in its order. */
function kindsOf({ steps }: SweepReport): AllocatorKind[] {
  return [...new Set(steps.map(({ kind }) => kind))];
}

function seriesOf(
  report: SweepReport,
  kinds: readonly AllocatorKind[],
  value: (step: SweepStep) => number | null,
): Series[] {
  return kinds.map((kind) => ({
    letter: kindLetter(kind),
    name: kind,
    style: kindStyle(kind),
    points: report.steps
      .filter((step) => step.kind === kind)
      .flatMap((step) => {
        const y = value(step);
        return y === null ? [] : [[step.requestedBytes, y] as const];
      })
      .sort(([a], [b]) => a - b),
    failed: report.steps
      .filter((step) => step.kind === kind && isFailed(step) && value(step) === null)
      .map(({ requestedBytes }) => requestedBytes),
  }));
}

function kindTable(report: SweepReport, kind: AllocatorKind, options: RenderOptions): string[] {
  const steps = report.steps.filter((step) => step.kind === kind);
  const call = report.kinds.find((support) => support.kind === kind)?.call ?? null;
  const measured = steps.filter(isMeasured);
  const tensors = measured.some(({ tensor }) => tensor !== null);
  const heads = ['size', ...(tensors ? ['tensor'] : []), 'alloc ms', '1st touch ms', '2nd touch ms', 'GB/s', 'free ms'];
  const cells = [
    measured.map((step) => sizeText(step.requestedBytes)),
    ...(tensors ? [measured.map(tensorText)] : []),
    ...(['allocMs', 'firstTouchMs', 'secondTouchMs'] as const).map((name) =>
      msColumn(measured.map((step) => step[name]?.median ?? null)),
    ),
    measured.map((step) => rate(step.gbPerSecond)),
    msColumn(measured.map((step) => step.freeMs?.median ?? null)),
  ];
  const rows = measured.map((_, index) => cells.map((column) => column[index] ?? ''));
  const columns = heads.map((head) => (head === 'tensor' ? 'left' : 'right'));
  const notes = [call === null ? null : clean(call), report.repeat > 1 ? `medians of ${report.repeat}` : null];
  const note = notes.filter((part) => part !== null).join(', ');
  return [
    `${options.paint(kindStyle(kind), `${kindLetter(kind)} ${kind}`)}${note === '' ? '' : options.paint('dim', `  ${note}`)}`,
    ...(rows.length === 0
      ? []
      : table(columns, [heads.map((head) => options.paint('dim', head)), ...rows], options.cut)),
    ...steps
      .filter(({ state }) => state !== 'ok' && state !== 'not-reached')
      .flatMap((step) => notOkLines(step, options)),
    ...notReachedLines(steps, options),
  ];
}

function tensorText({ tensor }: SweepStep): string {
  if (tensor === null) return '';
  return `${clean(tensor.dtype)} ${tensor.shape === null ? tensor.elements.toLocaleString('en-US') : tensor.shape.join('x')}`;
}

/** A refusal is the guard at work, not a fault. */
const STATE_STYLES: Readonly<Record<SweepStep['state'], Style>> = {
  ok: 'ok',
  refused: 'notice',
  'out-of-memory': 'notice',
  unsupported: 'notice',
  stopped: 'warning',
  failed: 'danger',
  aborted: 'warning',
  timeout: 'warning',
  lost: 'danger',
  'not-reached': 'dim',
};

function notOkLines(step: SweepStep, options: RenderOptions): string[] {
  const label = `${sizeText(step.requestedBytes)}  ${step.state}  `;
  const [first = '', ...more] = hanging(label, clean(step.reason ?? ''), options.width);
  return [options.paint(STATE_STYLES[step.state], first.slice(0, label.length)) + first.slice(label.length), ...more];
}

function notReachedLines(steps: readonly SweepStep[], options: RenderOptions): string[] {
  const sizes = steps.filter(({ state }) => state === 'not-reached').map((step) => sizeText(step.requestedBytes));
  if (sizes.length === 0) return [];
  const range = sizes.length <= 4 ? sizes.join(', ') : `${sizes.length} sizes from ${sizes[0]} to ${sizes.at(-1)}`;
  return [options.paint('dim', `${range}: not reached`)];
}

function answerLines(report: SweepReport, options: RenderOptions): string[] {
  const ok = report.steps.filter(({ state }) => state === 'ok').length;
  const failed = report.steps.filter(({ state }) => state === 'failed').length;
  const largest = kindsOf(report).map((kind) => largestText(report, kind));
  const done = `${ok} of ${report.steps.length} steps measured; the largest: ${largest.join(', ')}.`;
  const reason = capitalized(sentence(report.reason ?? ''));
  switch (report.state) {
    case 'complete':
      if (failed > 0) return outcomeLines('failed', 'danger', `${failed} steps failed. ${done}`, options);
      if (ok > 0) return outcomeLines('complete', 'ok', done, options);
      return outcomeLines('nothing measured', 'warning', 'No step could be run; the reasons are below.', options);
    case 'lost': {
      const journal = report.journal === null ? '' : ` The journal is ${report.journal}.`;
      return outcomeLines('lost', 'danger', `${reason || 'The child process vanished.'} ${done}${journal}`, options);
    }
    case 'aborted':
    case 'stopped':
    case 'timeout':
      return outcomeLines(report.state, 'warning', `${reason} ${done}`.trim(), options);
  }
}

/** "device 1 GB (34.7 ms to allocate, 231 GB/s)". */
function largestText({ largest, steps }: SweepReport, kind: AllocatorKind): string {
  const bytes = largest[kind];
  if (bytes === null) return `${kind} none`;
  const step = steps.find((made) => made.kind === kind && made.requestedBytes === bytes && made.state === 'ok');
  const facts = [
    step?.allocMs == null ? null : `${median(step.allocMs)} ms to allocate`,
    step?.gbPerSecond == null ? null : `${rate(step.gbPerSecond)} GB/s`,
  ].filter((part) => part !== null);
  return `${kind} ${sizeText(bytes)}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}`;
}

/** One step as a line of a log. */
export function sweepStepLine(step: SweepStep, done: number, total: number): string {
  const place = `${String(done).padStart(String(total).length)}/${total}`;
  const name = `${step.kind.padEnd(KIND_WIDTH)} ${sizeText(step.requestedBytes).padStart(10)}`;
  if (step.state !== 'ok') return `${place}  ${name}  ${step.state}: ${clean(step.reason ?? 'unknown')}`;
  return `${place}  ${name}  alloc ${median(step.allocMs)} ms  touch ${median(step.firstTouchMs)} ms, ${median(step.secondTouchMs)} ms  ${rate(step.gbPerSecond)} GB/s  free ${median(step.freeMs)} ms`;
}
