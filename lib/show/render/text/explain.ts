/** The page of explain: why memory is gone or looks gone, largest first. */
import { clean } from '../../../base/format.ts';
import type { ExplainReport, Finding } from '../../../types/index.ts';
import { amount, dot, type RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { hanging, padEnd } from '../text-layout.ts';
import { evidenceText } from './evidence.ts';
import { sections, simulatedBand } from './frame.ts';
import { remedyLines } from './remedy.ts';

const STYLES: Readonly<Record<Finding['severity'], Style>> = {
  danger: 'danger',
  warning: 'warning',
  notice: 'strong',
};

export const INDENT = '  ';
export const LABEL = 7;

export function explainPage(report: ExplainReport, options: RenderOptions): string[] {
  const { findings, notJudged, simulated } = report;
  return sections(
    simulatedBand(simulated, options),
    ...findings.map((finding) => findingLines(finding, options)),
    hanging('', total(report), options.width),
    notJudged.flatMap(({ why }) => hanging('Not known: ', `${clean(why)}.`, options.width)),
  );
}

/** "2 findings. 103.88 GiB (111.54 GB) can be loaded on the GPU." */
function total({ answer, findings, notJudged }: ExplainReport): string {
  if (findings.length > 0) return `${findings.length} ${findings.length === 1 ? 'finding' : 'findings'}. ${answer}.`;
  return `${notJudged.length > 0 ? 'Nothing found, as far as it is known' : 'Nothing hides memory here'}. ${answer}.`;
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
