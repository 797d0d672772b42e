/** A preparation: the verdict, its steps in order, and where the memory comes from. */
import { capitalized, clean, formatBoth, formatBytes, formatDuration } from '../../../base/format.ts';
import { NOT_NOW } from '../../../core/memory/judge.ts';
import type { PlanState, PrepareReport, PrepareStep } from '../../../types/index.ts';
import type { RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { hanging, padEnd, padStart } from '../text-layout.ts';
import { signed } from './cache-actions.ts';
import { fitting, labelled, sections, simulatedBand } from './frame.ts';

const VERDICT_STYLES: Readonly<Record<PrepareReport['verdict'], Style>> = {
  enough: 'ok',
  planned: 'notice',
  'after-reclaim': 'warning',
  'not-enough': 'danger',
};
export const STEP_STYLES: Readonly<Record<PlanState, Style>> = {
  complete: 'ok',
  planned: 'notice',
  skipped: 'dim',
  failed: 'danger',
};

/** The steps by which the page gets shorter in a window of few rows. */
const SHORTER = { noTime: 1, noQuestion: 2, noBlankLines: 3 };

export function preparePage(report: PrepareReport, options: RenderOptions): string[] {
  const { bytes, floor, simulated, steps } = report;
  const page = (step: number): string[] => {
    const parts = [
      [...simulatedBand(simulated, options), ...answerLines(report, options)],
      step < SHORTER.noQuestion
        ? [
            `wanted   ${formatBoth(bytes)}`,
            ...hanging('floor    ', `${formatBoth(floor.bytes)} for the host: ${floor.from}`, options.width),
          ]
        : [],
      steps.flatMap((each) => stepLines(each, options)),
      sourceLines(report, options),
      step < SHORTER.noTime ? [options.paint('dim', `took ${formatDuration(report.durationMs)}`)] : [],
    ];
    return step < SHORTER.noBlankLines ? sections(...parts) : parts.flat();
  };
  return fitting(SHORTER.noBlankLines, page, options);
}

function answerLines({ reason, verdict }: PrepareReport, options: RenderOptions): string[] {
  const isLater = reason.startsWith(NOT_NOW);
  const label = isLater ? 'NOT NOW' : verdict.toUpperCase().replace('-', ' ');
  const text = capitalized(clean(isLater ? reason.slice(NOT_NOW.length) : reason));
  return labelled(label, VERDICT_STYLES[verdict], text, options);
}

function stepLines(step: PrepareStep, { width, paint }: RenderOptions): string[] {
  const name = step.level === null ? step.action : `${step.action} ${step.level}`;
  const state = padEnd(step.state, 9);
  const gained = step.gainedBytes === null || step.action === 'compact' ? '' : ` (${signed(step.gainedBytes)})`;
  const [first = '', ...more] = hanging(`${state}${padEnd(name, 9)}`, clean(step.reason) + gained, width);
  return [paint(STEP_STYLES[step.state], state) + first.slice(state.length), ...more];
}

/** Sources of the memory, amounts aligned. */
function sourceLines({ sources, verdict }: PrepareReport, { width, paint }: RenderOptions): string[] {
  if (sources.length === 0) return [];
  const amounts = sources.map(({ bytes }) => formatBytes(bytes));
  const amountWidth = Math.max(...amounts.map((amount) => amount.length));
  const title = verdict === 'planned' ? 'Where it would come from' : 'Where it comes from';
  return [
    paint('heading', title),
    ...sources.flatMap(({ label }, index) =>
      hanging(`  ${padStart(amounts[index] ?? '', amountWidth)}  `, label, width),
    ),
  ];
}
