/** The page of a comparison. Its tables are part of the markup, so it needs no charts. */
import type { ComparedRow, ComparedSide, CompareReport } from '../../../types/index.ts';
import {
  changeText,
  mixedText,
  nameText,
  sameText,
  sectionsOf,
  sectionTitle,
  sideText,
  simulatedText,
  valueText,
  verdictText,
} from '../compare-facts.ts';
import { html, type Markup, scrollTable } from './markup.ts';
import { type Assets, page } from './page.ts';
import { list, saveButton, section, UNICODE } from './sections.ts';

export function compareHtml(report: CompareReport, assets: Assets): string {
  const { a, b, direction, findings, notes, summary } = report;
  const mixed = mixedText(report);
  return page(
    report,
    {
      title: 'Comparison',
      heading: a.device === b.device ? (a.device ?? 'A and B') : `${a.device ?? 'A'} and ${b.device ?? 'B'}`,
      simulated: simulatedText(report),
      facts: [`A: ${sideText(a)}`, `B: ${sideText(b)}`],
      notices: mixed === null ? [] : [mixed],
      sections: [
        html`<section><p class="notice"><strong>${direction.toUpperCase()}</strong> ${summary}</p></section>\n`,
        a.verdict === null && b.verdict === null
          ? null
          : section('Verdict', list([verdictOf('A', a), verdictOf('B', b)])),
        ...sectionsOf(report).map(([name, rows]) =>
          section(sectionTitle(report, name), table(sectionTitle(report, name), rows)),
        ),
        findings.length === 0
          ? null
          : section(
              'Findings of one of the two',
              list(findings.map(({ id, in: side, summary: text }) => [`${id}, only in ${side.toUpperCase()}`, text])),
            ),
        section(
          'What is not in the tables',
          html`<p>${sameText(report)}</p>${notes.map((note) => html`<p>${note}</p>`)}`,
          saveButton(),
        ),
      ],
    },
    assets,
  );
}

function verdictOf(name: string, { verdict }: ComparedSide): [string, string] | null {
  return verdict === null ? null : [name, verdictText(verdict)];
}

function table(name: string, rows: readonly ComparedRow[]): Markup {
  return scrollTable(
    name,
    'The largest change first; unknown is never 0.',
    html`<tr><th scope="col">quantity</th><th scope="col">A</th><th scope="col">B</th><th scope="col">change</th></tr>`,
    rows.map(
      (row) =>
        html`<tr><th scope="row">${nameText(row)}</th><td>${valueText(row.a, row.unit)}</td><td>${valueText(row.b, row.unit)}</td><td>${changeText(row, UNICODE)}</td></tr>\n`,
    ),
  );
}
