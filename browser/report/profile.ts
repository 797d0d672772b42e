/** Charts of a profile: for each parameter its peaks, the curve through them, and the limit. */
import { GiB } from '../../lib/base/format.ts';
import type { ProfileCurve, ProfileReport } from '../../lib/types/index.ts';
import { type ChartSpec, stroke, toGiB } from '../lines.ts';

export function profileCharts(report: ProfileReport): ChartSpec[] {
  return report.curves.map((curve) => chartOf(curve, report));
}

function chartOf(curve: ProfileCurve, { limit, trials }: ProfileReport): ChartSpec {
  const { at, exponent, fixedBytes, parameter, points, unitBytes } = curve;
  const onLine = trials.filter(({ params }) => Object.entries(at).every(([name, value]) => params[name] === value));
  const xs = [...new Set([...points.map(({ value }) => value), ...onLine.map(({ params }) => params[parameter] ?? 0)])]
    .filter((value) => value > 0)
    .sort((a, b) => a - b);
  const of = (value: number) => onLine.find(({ params }) => params[parameter] === value);
  const peak = (value: number) => points.find((point) => point.value === value)?.peakBytes;
  const others = Object.entries(at).map(([name, value]) => `${name} ${value}`);
  return {
    title: others.length === 0 ? `Peak by ${parameter}` : `Peak by ${parameter}, at ${others.join(', ')}`,
    unit: 'GiB',
    xName: parameter,
    xs,
    xText: (value) => `${parameter} ${value}`,
    lines: [
      {
        name: 'peak',
        ...stroke('kind-1'),
        values: xs.map((value) => toGiB(peak(value) ?? null)),
        failed: xs.map((value) => (peak(value) === undefined ? (of(value)?.status ?? null) : null)),
      },
      { name: 'predicted', ...stroke('kind-2'), values: xs.map((value) => toGiB(of(value)?.predictedBytes ?? null)) },
      {
        name: 'curve',
        colour: 'ink',
        dash: [4, 3],
        values: xs.map((value) => (fixedBytes + unitBytes * value ** exponent) / GiB),
        bare: true,
      },
      { name: 'limit', colour: 'warn', dash: [], values: xs.map(() => limit.bytes / GiB), bare: true },
    ],
  };
}
