/** A preparation: its steps in order, where the memory comes from, and the verdict. */

import { clean, formatBoth, formatBytes, formatDuration } from '../../base/format.ts';
import type { PrepareReport, PrepareStep } from '../../types/index.ts';
import type { RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { hanging, padEnd, padStart } from '../text-layout.ts';
import { labelled, signed } from './cache-actions.ts';
import { simulatedBand } from './cache-status.ts';

const VERDICTS: Readonly<Record<PrepareReport['verdict'], Style>> = {
  enough: 'ok',
  planned: 'notice',
  'after-reclaim': 'warning',
  'not-enough': 'danger',
};
const STATES: Readonly<Record<PrepareStep['state'], Style>> = {
  done: 'ok',
  planned: 'notice',
  skipped: 'dim',
  failed: 'danger',
};

export function preparePage(report: PrepareReport, options: RenderOptions): string {
  const { width, paint } = options;
  const { askedBytes, floor, sources, steps } = report;
  const lines = simulatedBand(report.simulated, options);
  lines.push(`wanted   ${formatBoth(askedBytes)}`);
  lines.push(...hanging('floor    ', `${formatBoth(floor.bytes)} for the host: ${floor.from}`, width), '');
  for (const step of steps) lines.push(...stepLines(step, options));
  if (sources.length > 0) {
    const amounts = sources.map(({ bytes }) => formatBytes(bytes));
    const amountWidth = Math.max(...amounts.map((amount) => amount.length));
    const title = report.verdict === 'planned' ? 'Where it would come from' : 'Where it comes from';
    lines.push('', paint('heading', title));
    for (const [index, { label }] of sources.entries())
      lines.push(...hanging(`  ${padStart(amounts[index] ?? '', amountWidth)}  `, label, width));
  }
  lines.push('', ...labelled(report.verdict, VERDICTS[report.verdict], clean(report.reason), options));
  lines.push(paint('dim', `took ${formatDuration(report.durationMs)}`));
  return `${lines.join('\n')}\n`;
}

function stepLines(step: PrepareStep, { width, paint }: RenderOptions): string[] {
  const name = step.level === null ? step.action : `${step.action} ${step.level}`;
  const state = padEnd(step.state, 9);
  const gained = step.gainedBytes === null || step.action === 'compact' ? '' : ` (${signed(step.gainedBytes)})`;
  const [first = '', ...more] = hanging(`${state}${padEnd(name, 9)}`, clean(step.reason) + gained, width);
  return [paint(STATES[step.state], state) + first.slice(state.length), ...more];
}
