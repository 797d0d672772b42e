/** Charts of a stress test: held memory and MemAvailable with the floor, and the time of each step. */
import { kindStyle } from '../../lib/render/kinds.ts';
import type { StressReport, StressStep } from '../../lib/types/index.ts';
import type { ChartSpec } from '../chart.ts';
import { stroke, type Theme } from '../theme.ts';

const GiB = 2 ** 30;

export function stressCharts({ steps, kind, floor, mode }: StressReport): ChartSpec[] {
  if (steps.length < 2) return [];
  const each = (value: (step: StressStep) => number | null): (number | null)[] => steps.map(value);
  const inGiB = (bytes: number | null): number | null => (bytes === null ? null : bytes / GiB);
  const x = {
    xName: 'step',
    xs: steps.map((_, index) => index + 1),
    xText: (step: number) => `step ${step}`,
  };
  return [
    {
      ...x,
      title: mode === 'single' ? 'Blocks and available memory' : 'Held and available memory',
      unit: 'GiB',
      lines: [
        { name: 'held', ...stroke(kindStyle(kind)), dash: [], values: each((step) => inGiB(step.heldBytes)) },
        {
          name: 'MemAvailable',
          colour: (theme) => theme.ink,
          dash: [4, 3],
          values: each((step) => inGiB(step.memAvailable)),
        },
        ...(floor === null
          ? []
          : [
              {
                name: 'floor',
                colour: (theme: Theme) => theme.warn,
                dash: [],
                values: each(() => floor.bytes / GiB),
                bare: true,
              },
            ]),
      ],
    },
    {
      ...x,
      title: 'Time of each step',
      unit: 'ms',
      lines: [
        { name: 'allocation', ...stroke('kind-1'), values: each((step) => step.allocMs) },
        { name: 'touch', ...stroke('kind-2'), values: each((step) => step.touchMs) },
        ...(steps.some((step) => step.verifyMs !== null)
          ? [{ name: 'verify', ...stroke('kind-3'), values: each((step) => step.verifyMs) }]
          : []),
      ],
    },
  ];
}
