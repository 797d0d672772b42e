/** A launch: the plan before, the receipt after. */
import { clean } from '../../base/format.ts';
import type { LaunchPlan, LaunchReceipt, LaunchReport, LaunchStep } from '../../types/index.ts';
import { VERDICTS } from '../fit-parts.ts';
import { type LaunchRow, planRows, receiptRows } from '../launch-facts.ts';
import type { RenderOptions } from '../options.ts';
import { hanging, truncate } from '../text-layout.ts';
import { labelled, sections, simulatedBand } from './frame.ts';

/** What is going to be done, and why. */
export function launchPlanLines(plan: LaunchPlan, options: RenderOptions): string[] {
  const { simulated } = plan;
  return sections(
    simulated === null ? [] : [simulatedBand(simulated, options)],
    [options.paint('strong', truncate(clean(`LAUNCH  ${plan.command.join(' ')}`), options.width))],
    rows(planRows(plan), options.width),
    launchStepLines(plan.steps, options),
    [...labelled(...VERDICTS[plan.verdict], clean(plan.summary), options), ...flagLines(plan.flags, options)],
  );
}

function rows(list: readonly LaunchRow[], width: number): string[] {
  return list.flatMap(([label, text]) => (text === null ? [] : hanging(label.padEnd(12), clean(text), width)));
}

const STEP_STYLES = { planned: 'notice', done: 'ok', skipped: 'dim', failed: 'danger' } as const;

export function launchStepLines(steps: readonly LaunchStep[], { paint, width }: RenderOptions): string[] {
  return steps.flatMap(({ state, step, text }) => {
    const head = `${state.padEnd(9)}${step.padEnd(9)}`;
    const [first = '', ...more] = hanging(head, clean(text), width);
    return [paint(STEP_STYLES[state], head) + first.slice(head.length), ...more];
  });
}

/** Flags are pasted: they are not broken. */
function flagLines(flags: LaunchPlan['flags'], { paint, unicode, width }: RenderOptions): string[] {
  if (flags === null) return [];
  const arrow = unicode ? '→' : '->';
  return [
    ...(flags.safe === null ? [] : [`  ${arrow} ${paint('strong', flags.safe)}`]),
    ...hanging('    ', flags.from, width),
  ];
}

/** What the launch took and gave back. */
export function launchReceiptLines(
  { record, simulated }: Pick<LaunchReport, 'record' | 'simulated'>,
  receipt: LaunchReceipt,
  options: RenderOptions,
): string[] {
  const { flags } = receipt;
  return sections(
    simulated === null ? [] : [simulatedBand(simulated, options)],
    [options.paint('heading', 'Receipt')],
    rows(receiptRows(receipt, record), options.width),
    flags?.safe == null ? [] : [`${options.unicode ? '→' : '->'} ${options.paint('strong', flags.safe)}`],
  );
}
