/** Charts of a sweep: each time and the bandwidth over the size, with a line for each kind. */
import { kindStyle } from '../../lib/render/kinds.ts';
import type { AllocatorKind, SweepReport, SweepStep } from '../../lib/types/index.ts';
import type { ChartSpec, Line } from '../chart.ts';
import { stroke } from '../theme.ts';

const GB = 1e9;

export function sweepCharts({ steps }: SweepReport): ChartSpec[] {
  const measured = steps.filter((step) => step.allocMs !== null);
  const kinds = [...new Set(measured.map(({ kind }) => kind))];
  const bytes = [...new Set(measured.map(({ requestedBytes }) => requestedBytes))].sort((a, b) => a - b);
  if (bytes.length === 0) return [];
  const chart = (title: string, unit: string, value: (step: SweepStep) => number | null): ChartSpec => ({
    title,
    unit,
    xName: 'size, GB',
    xs: bytes.map((size) => size / GB),
    xText: (x) => `${x.toLocaleString('en-US', { maximumFractionDigits: 3 })} GB`,
    lines: kinds.map((kind) => line(kind, bytes, measured, value)),
  });
  return [
    chart('Allocation', 'ms', (step) => step.allocMs?.median ?? null),
    chart('First touch', 'ms', (step) => step.firstTouchMs?.median ?? null),
    chart('Second touch', 'ms', (step) => step.secondTouchMs?.median ?? null),
    chart('Bandwidth, second touch', 'GB/s', (step) => step.gbPerSecond),
  ];
}

function line(
  kind: AllocatorKind,
  sizes: readonly number[],
  steps: readonly SweepStep[],
  value: (step: SweepStep) => number | null,
): Line {
  const values = sizes.map((size) => {
    const step = steps.find((candidate) => candidate.kind === kind && candidate.requestedBytes === size);
    return step === undefined ? null : value(step);
  });
  return { name: kind, ...stroke(kindStyle(kind)), values };
}
