/** The page of explain: why memory is gone or looks gone, largest first. */
import { clean, formatPercent } from '../../base/format.ts';
import type { Evidence, ExplainReport, MemoryFinding } from '../../types/index.ts';
import { amount, dot, type RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { hanging, padEnd } from '../text-layout.ts';
import { sections, simulatedBand } from './frame.ts';

const STYLES: Readonly<Record<MemoryFinding['severity'], Style>> = {
  danger: 'danger',
  warning: 'warning',
  notice: 'strong',
};

const INDENT = '  ';
const LABEL = 7;

export function explainPage(report: ExplainReport, options: RenderOptions): string[] {
  const { findings, simulated, unknown } = report;
  return sections(
    simulated === null ? [] : [simulatedBand(simulated, options, { what: 'numbers' })],
    ...findings.map((finding) => findingLines(finding, options)),
    hanging('', total(report, options), options.width),
    unknown.flatMap((what) => hanging('Not known: ', `${clean(what)}.`, options.width)),
  );
}

/** "2 findings. 103.9 GiB of 119.7 GiB can be loaded now." */
function total({ allocatable, findings, total: all, unknown }: ExplainReport, options: RenderOptions): string {
  const { afterReclaim, safe } = allocatable;
  const room = safe ?? afterReclaim;
  const can =
    room === null
      ? 'How much can be loaded is not known.'
      : `${amount(room, options)} of ${amount(all, options)} can be ${safe === null ? 'allocated' : 'loaded'} now.`;
  if (findings.length > 0) return `${findings.length} ${findings.length === 1 ? 'finding' : 'findings'}. ${can}`;
  return `${unknown.length > 0 ? 'Nothing found, as far as it is known' : 'Nothing hides memory here'}. ${can}`;
}

function findingLines(finding: MemoryFinding, options: RenderOptions): string[] {
  const { bytes, code, evidence, remedy, severity, summary } = finding;
  const { paint, width } = options;
  const head = [code, ...(bytes === null ? [] : [amount(bytes, options)]), severity].join(dot(options));
  return [
    paint(STYLES[severity], code) + head.slice(code.length),
    ...hanging(INDENT, summary, width),
    ...part('seen', evidence.map((item) => evidenceText(item, options)).join(', '), width).map((line) =>
      paint('dim', line),
    ),
    ...part('do', remedy.text, width),
    ...(remedy.gains === null || remedy.gains === 0 ? [] : part('gains', amount(remedy.gains, options), width)),
  ];
}

function evidenceText({ name, unit, value }: Evidence, options: RenderOptions): string {
  const shown = unit === 'bytes' ? amount(value, options) : unit === 'percent' ? formatPercent(value) : String(value);
  return `${clean(name)} ${shown}`;
}

function part(label: string, sentence: string, width: number): string[] {
  return hanging(INDENT + padEnd(label, LABEL), clean(sentence), width);
}
