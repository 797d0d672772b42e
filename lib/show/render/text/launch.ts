/** A launch: the plan before, the memory after. */
import { clean } from '../../../base/format.ts';
import type { LaunchPlan, LaunchReceipt, LaunchReport, LaunchStep } from '../../../types/index.ts';
import { VERDICTS } from '../fit-parts.ts';
import { adviceOf, type LaunchRow, planRows, receiptRows, tookText } from '../launch-facts.ts';
import type { RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { hanging, truncate } from '../text-layout.ts';
import { nearestBelow, remediesBelow } from './fit.ts';
import { labelled, sections, simulatedBand } from './frame.ts';
import { STEP_STYLES } from './prepare.ts';

/** Steps of the plan, with reasons. */
export function launchPlanLines(plan: LaunchPlan, options: RenderOptions): string[] {
  const { simulated } = plan;
  return sections(
    [
      ...simulatedBand(simulated, options),
      ...labelled(...VERDICTS[plan.verdict], clean(plan.summary), options),
      ...flagLines(plan, options),
      ...adviceLines(plan, options),
    ],
    [
      options.paint('strong', truncate(clean(plan.command.join(' ')), options.width)),
      ...rows(planRows(plan), options.width),
    ],
    launchStepLines(plan.steps, options),
  );
}

function rows(list: readonly LaunchRow[], width: number): string[] {
  return list.flatMap(([label, text]) => (text === null ? [] : hanging(label.padEnd(12), clean(text), width)));
}

export function launchStepLines(steps: readonly LaunchStep[], { paint, width }: RenderOptions): string[] {
  return steps.flatMap(({ state, step, text }) => {
    const head = `${state.padEnd(9)}${step.padEnd(9)}`;
    const [first = '', ...more] = hanging(head, clean(text), width);
    return [paint(STEP_STYLES[state], head) + first.slice(head.length), ...more];
  });
}

/** Flags are pasted: they are not broken. */
function flagLines({ flags, verdict }: LaunchPlan, { paint, unicode, width }: RenderOptions): string[] {
  if (flags === null) return [];
  const indent = ' '.repeat(VERDICTS[verdict][0].length + 2);
  return [
    ...hanging(`${indent}${unicode ? '→' : '->'} `, flags.from, width),
    ...(flags.safe === null ? [] : [`${indent}  ${paint('strong', flags.safe)}`]),
  ];
}

/** Steps to do first. Flags that fit are the nearest setting. */
function adviceLines(plan: LaunchPlan, options: RenderOptions): string[] {
  const fit = adviceOf(plan);
  if (fit === null) return [];
  const [label] = VERDICTS[fit.verdict];
  return [
    ...remediesBelow(label, fit.remedies, options),
    ...(plan.flags === null ? nearestBelow(label, fit, options) : []),
  ];
}

const ENDS: Readonly<Record<LaunchReport['outcome'], readonly [label: string, style: Style]>> = {
  planned: ['PLANNED', 'notice'],
  refused: ['NOT STARTED', 'danger'],
  exited: ['ENDED', 'notice'],
  stopped: ['STOPPED', 'danger'],
  aborted: ['ABORTED', 'warning'],
};

/** Memory that the launch took and gave back. */
export function launchReceiptLines(
  { outcome, record, simulated, summary }: Pick<LaunchReport, 'outcome' | 'record' | 'simulated' | 'summary'>,
  receipt: LaunchReceipt,
  options: RenderOptions,
): string[] {
  const { flags } = receipt;
  return sections(
    [
      ...simulatedBand(simulated, options),
      ...labelled(...ENDS[outcome], clean(`${summary} ${tookText(receipt)}`), options),
      ...(flags?.safe == null ? [] : [`  ${options.paint('strong', flags.safe)}`]),
    ],
    rows(receiptRows(receipt, record), options.width),
  );
}
