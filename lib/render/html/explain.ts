/** The page of `explain`: why memory is gone or looks gone, largest first. */
import { formatBoth, formatBytes, formatPercent, inGB, inGiB } from '../../base/format.ts';
import type { Evidence, ExplainReport, MemoryFinding } from '../../types/index.ts';
import { type Content, html, type Markup } from './markup.ts';
import { type Assets, page, timeText } from './page.ts';
import { type Figure, figures, list, saveButton, section } from './sections.ts';

export function explainHtml(report: ExplainReport, assets: Assets): string {
  const { at, findings, simulated, total, unknown } = report;
  return page(
    report,
    {
      title: 'Why memory is gone',
      heading:
        findings.length === 0
          ? 'Nothing was found'
          : `${findings.length} ${findings.length === 1 ? 'finding' : 'findings'}`,
      simulated,
      facts: [`${formatBoth(total)} in all`, timeText(at)],
      sections: [
        figures(keyFigures(report)),
        findings.length === 0
          ? null
          : section(
              'Findings',
              findings.map((finding) => findingArticle(finding, total)),
            ),
        unknown.length === 0
          ? null
          : section('Not known', html`<ul>${unknown.map((what) => html`<li>${what}.</li>`)}</ul>`),
        html`<section>${saveButton()}</section>`,
      ],
    },
    assets,
  );
}

function keyFigures({ allocatable, total }: ExplainReport): Figure[] {
  const figure = (term: string, bytes: number | null, more: string): Figure => ({
    term,
    value: bytes === null ? 'unknown' : `${inGiB(bytes)} GiB`,
    more,
    kind: null,
  });
  return [
    figure('Memory in all', total, `${inGB(total)} GB`),
    figure('Free this instant', allocatable.immediate, 'what cudaMemGetInfo reports'),
    figure('After reclaim', allocatable.afterReclaim, 'with page cache given back'),
    figure('Can be loaded', allocatable.safe, 'and leave the host its share'),
  ];
}

const SEVERITIES: Readonly<Record<MemoryFinding['severity'], string>> = {
  danger: 'warn',
  warning: 'caution',
  notice: 'good',
};

function findingArticle({ bytes, code, evidence, remedy, severity, summary }: MemoryFinding, total: number): Markup {
  const width = bytes === null ? null : Math.min(100, (bytes / total) * 100).toFixed(1);
  const bar =
    width === null
      ? null
      : html`<div class="kind-1"><p class="small"><svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="rest" width="100" height="8"/><rect width="${width}" height="8"/></svg> ${formatBoth(bytes)} of ${formatBytes(total)}</p></div>`;
  const rows: (readonly [string, Content] | null)[] = [
    ...evidence.map((item) => [item.name, html`${evidenceText(item)} <span class="soft">${item.from}</span>`] as const),
    ['what to do', remedy.text],
    remedy.command === null
      ? null
      : ['command', html`<code>${remedy.command}</code>${remedy.needsRoot ? ' (needs root)' : null}`],
    remedy.gains === null || remedy.gains === 0 ? null : ['gains', formatBoth(remedy.gains)],
  ];
  return html`<article><h3>${code} <span class="chip"><strong class="${SEVERITIES[severity]}">${severity}</strong></span></h3><p>${summary}</p>${bar}${list(rows)}</article>\n`;
}

function evidenceText({ unit, value }: Evidence): string {
  if (unit === 'bytes') return formatBoth(value);
  return unit === 'percent' ? formatPercent(value) : String(value);
}
