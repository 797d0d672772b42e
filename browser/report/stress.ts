/** Charts of a stress test: held memory and MemAvailable with the floor, and the time of each step. */
import { GiB } from '../../lib/base/format.ts';
import { kindStyle } from '../../lib/show/render/kinds.ts';
import type { StressReport, StressStep } from '../../lib/types/index.ts';
import { type ChartSpec, type Line, stroke, toGiB } from '../lines.ts';

export function stressCharts({ steps, kind, floor, mode }: StressReport): ChartSpec[] {
  if (steps.length < 2) return [];
  const each = (value: (step: StressStep) => number | null): (number | null)[] => steps.map(value);
  const failed = steps.map(({ state }) => (state === 'ok' ? null : state));
  const x = {
    xName: 'step',
    xs: steps.map((_, index) => index + 1),
    steps: true,
    xText: (step: number) => `step ${step}`,
  };
  const floorLine: Line[] =
    floor === null
      ? []
      : [{ name: 'floor', colour: 'warn', dash: [], values: each(() => floor.bytes / GiB), bare: true }];
  const specs: ChartSpec[] = [
    {
      ...x,
      title: mode === 'single' ? 'Blocks and available memory' : 'Held and available memory',
      unit: 'GiB',
      lines: [
        { name: 'held', ...stroke(kindStyle(kind)), dash: [], values: each((step) => toGiB(step.heldBytes)), failed },
        { name: 'MemAvailable', colour: 'ink', dash: [4, 3], values: each((step) => toGiB(step.memAvailable)) },
        ...floorLine,
      ],
    },
    {
      ...x,
      title: 'Time of each step',
      unit: 'ms',
      lines: [
        { name: 'allocation', ...stroke('kind-1'), values: each((step) => step.allocMs), failed },
        { name: 'touch', ...stroke('kind-2'), values: each((step) => step.touchMs) },
        { name: 'verify', ...stroke('kind-3'), values: each((step) => step.verifyMs) },
      ].filter(({ values }) => values.some((value) => value !== null)),
    },
  ];
  return specs.filter(({ lines }) => lines.length > 0);
}
