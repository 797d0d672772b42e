/** Charts of a sweep: each time and the bandwidth over the size, with a line for each kind. */
import { kindStyle } from '../../lib/show/render/kinds.ts';
import { sizeText, sizeUnit } from '../../lib/show/render/numbers.ts';
import { isFailed } from '../../lib/show/render/sweep-steps.ts';
import type { AllocatorKind, SweepReport, SweepStep, Times } from '../../lib/types/index.ts';
import { type ChartSpec, type Line, stroke } from '../lines.ts';

type StepTime = (step: SweepStep) => Times | number | null;

export function sweepCharts(report: SweepReport): ChartSpec[] {
  const shown = report.steps.filter((step) => step.allocMs !== null || isFailed(step));
  const kinds = [...new Set(shown.map(({ kind }) => kind))];
  const bytes = [...new Set(shown.map(({ requestedBytes }) => requestedBytes))].sort((a, b) => a - b);
  const { unit, name, binary } = sizeUnit(bytes);
  const chart = (title: string, yUnit: string, reading: StepTime): ChartSpec => ({
    title,
    unit: yUnit,
    xName: `size, ${name}`,
    xs: bytes.map((size) => size / unit),
    binary,
    xText: (x) => sizeText(Math.round(x * unit)),
    lines: kinds.map((kind) => line(kind, bytes, shown, reading, report.repeat > 1)),
  });
  const charts = [
    chart('Allocation', 'ms', (step) => step.allocMs),
    chart('First touch', 'ms', (step) => step.firstTouchMs),
    chart('Second touch', 'ms', (step) => step.secondTouchMs),
    chart('Bandwidth, second touch', 'GB/s', (step) => step.gbPerSecond),
  ];
  return charts.filter(({ lines }) => lines.some(({ values }) => values.some((value) => value !== null)));
}

function line(
  kind: AllocatorKind,
  sizes: readonly number[],
  steps: readonly SweepStep[],
  reading: StepTime,
  repeated: boolean,
): Line {
  const mine = sizes.map(
    (size) => steps.find((candidate) => candidate.kind === kind && candidate.requestedBytes === size) ?? null,
  );
  const readings = mine.map((step) => (step === null ? null : reading(step)));
  return {
    name: kind,
    ...stroke(kindStyle(kind)),
    values: readings.map((value) => (value === null || typeof value === 'number' ? value : value.median)),
    spread: readings.map((value) =>
      repeated && value !== null && typeof value !== 'number' ? ([value.min, value.max] as const) : null,
    ),
    failed: mine.map((step) => (step !== null && isFailed(step) ? step.state : null)),
  };
}
