/** A profile as Markdown, to be pasted into a README or an issue: the table of the trials, and the answer. */
import { inGB, printable } from '../../base/format.ts';
import type { ProfileReport, ProfileTrial } from '../../types/index.ts';
import { answerText, trialNote } from './profile-facts.ts';

/** Sizes in GB, 10^9 bytes, as in the tables of training repositories. */
export function profileMarkdown(report: ProfileReport): string {
  const names = report.parameters.map(({ name }) => name);
  const hasMetric = report.trials.some(({ metric }) => metric !== null);
  const heads = [
    ...names,
    'peak_mem_gb',
    'headroom_gb',
    'predicted_gb',
    ...(hasMetric ? ['metric'] : []),
    'status',
    'notes',
  ];
  const row = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
  const rows = report.trials.map((trial) => row(trialCells(trial, names, hasMetric)));
  const simulated =
    report.simulated === null
      ? []
      : [`**Simulated** machine ${inLine(report.simulated)}: no number comes from hardware.`, ''];
  return [
    ...simulated,
    inLine(answerText(report)),
    '',
    row(heads),
    `|${heads.map((head) => (head === 'status' || head === 'notes' ? '---|' : '--:|')).join('')}`,
    ...rows,
    '',
    ...report.curves.map(({ formula }) => `- ${inLine(formula)}`),
    ...(report.curves.length === 0 ? [] : ['']),
  ].join('\n');
}

function trialCells(trial: ProfileTrial, names: readonly string[], hasMetric: boolean): string[] {
  const { headroomBytes, metric, params, peakBytes, predictedBytes, status } = trial;
  const size = (bytes: number | null) => (bytes === null ? '' : inGB(bytes));
  return [
    ...names.map((name) => String(params[name] ?? '')),
    size(peakBytes),
    size(headroomBytes),
    size(predictedBytes),
    ...(hasMetric ? [metric === null ? '' : String(metric)] : []),
    status,
    trialNote(trial),
  ];
}

/** A note may quote the program's own output. */
function inLine(text: string): string {
  return printable(text.replace(/\s+/g, ' ')).replace(/[\\`*_[\]<>]/g, '\\$&');
}

function cell(text: string): string {
  return inLine(text).replaceAll('|', '\\|');
}
