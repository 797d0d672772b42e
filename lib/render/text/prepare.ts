/** A preparation: its steps in order, where the memory comes from, and the verdict. */

import { bothUnits, clean, formatBytes, formatDuration } from '../../base/format.ts';
import type { Screen } from '../../cli/core/screen.ts';
import type { PrepareReport, PrepareStep } from '../../types/index.ts';
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

export function preparePage(report: PrepareReport, screen: Screen): string {
  const { columns, paint } = screen;
  const { askedBytes, floor, sources, steps } = report;
  const lines = simulatedBand(report.simulated, screen);
  lines.push(`wanted   ${bothUnits(askedBytes)}`);
  lines.push(...hanging('floor    ', `${bothUnits(floor.bytes)} for the host: ${floor.from}`, columns), '');
  for (const step of steps) lines.push(...stepLines(step, screen));
  if (sources.length > 0) {
    const amounts = sources.map(({ bytes }) => formatBytes(bytes));
    const width = Math.max(...amounts.map((amount) => amount.length));
    const title = report.verdict === 'planned' ? 'Where it would come from' : 'Where it comes from';
    lines.push('', paint('heading', title));
    for (const [index, { label }] of sources.entries())
      lines.push(...hanging(`  ${padStart(amounts[index] ?? '', width)}  `, label, columns));
  }
  lines.push('', ...labelled(report.verdict, VERDICTS[report.verdict], clean(report.reason), screen));
  lines.push(paint('dim', `took ${formatDuration(report.durationMs)}`));
  return `${lines.join('\n')}\n`;
}

function stepLines(step: PrepareStep, { columns, paint }: Screen): string[] {
  const name = step.level === null ? step.action : `${step.action} ${step.level}`;
  const state = padEnd(step.state, 9);
  const gained = step.gainedBytes === null || step.action === 'compact' ? '' : ` (${signed(step.gainedBytes)})`;
  const [first = '', ...more] = hanging(`${state}${padEnd(name, 9)}`, clean(step.reason) + gained, columns);
  return [paint(STATES[step.state], state) + first.slice(state.length), ...more];
}
