/** The page of explain: what can be loaded, and why memory is gone or looks gone, largest first. */
import { clean } from '../../../base/format.ts';
import type { ExplainReport, Finding } from '../../../types/index.ts';
import { amount, dot, type RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { hanging, padEnd } from '../text-layout.ts';
import { evidenceText } from './evidence.ts';
import { labelled, sections, simulatedBand } from './frame.ts';
import { remedyLines } from './remedy.ts';
import { LEVELS } from './snapshot-header.ts';

const STYLES: Readonly<Record<Finding['severity'], Style>> = {
  danger: 'danger',
  warning: 'warning',
  notice: 'strong',
};

export const INDENT = '  ';
export const LABEL = 7;

export function explainPage(report: ExplainReport, options: RenderOptions): string[] {
  const { findings, level, notJudged, simulated } = report;
  return sections(
    [...simulatedBand(simulated, options), ...labelled(...LEVELS[level], sentenceOf(report), options)],
    ...findings.map((finding) => findingLines(finding, options)),
    notJudged.flatMap(({ why }) => hanging('Not known: ', `${clean(why)}.`, options.width)),
  );
}

/** "103.88 GiB (111.54 GB) can be loaded on the GPU. Nothing hides memory here." */
function sentenceOf({ answer, findings, notJudged }: ExplainReport): string {
  if (findings.length > 0) return `${answer}.`;
  return `${answer}. ${notJudged.length > 0 ? 'Nothing found, as far as it is known' : 'Nothing hides memory here'}.`;
}

function findingLines(finding: Finding, options: RenderOptions): string[] {
  const { bytes, cause, evidence, id, remedy, severity, summary } = finding;
  const { paint, width } = options;
  const head = [id, ...(bytes === null ? [] : [amount(bytes, options)]), severity].join(dot(options));
  return [
    paint(STYLES[severity], id) + head.slice(id.length),
    ...hanging(INDENT, cause === null ? summary : `${summary} ${cause}`, width),
    ...part('seen', evidenceText(evidence, options), width).map((line) => paint('dim', line)),
    ...(remedy === null ? [] : remedyLines(INDENT + padEnd('do', LABEL), remedy, width)),
    ...((remedy?.gains ?? 0) === 0 ? [] : part('gains', amount(remedy?.gains ?? null, options), width)),
  ];
}

function part(label: string, sentence: string, width: number): string[] {
  return hanging(INDENT + padEnd(label, LABEL), clean(sentence), width);
}
