/** Two documents side by side: what differs most first. */
import { clean } from '../../../base/format.ts';
import type { ComparedRow, CompareReport } from '../../../types/index.ts';
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
import type { RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { hanging, truncate } from '../text-layout.ts';
import { headedTable, labelled, sections, simulatedBand } from './frame.ts';

/** Rows of a section; the document has all. */
const LISTED = 8;
/** Columns of a value: a version of a driver fits. */
const VALUE_WIDTH = 22;

const STYLES: Readonly<Record<CompareReport['direction'], Style>> = {
  more: 'ok',
  less: 'notice',
  faster: 'ok',
  slower: 'notice',
  alike: 'ok',
  unknown: 'notice',
};

export function comparePage(report: CompareReport, options: RenderOptions): string[] {
  const { a, b, direction, findings, notes, summary } = report;
  const { paint, width } = options;
  const simulated = simulatedText(report);
  const mixed = mixedText(report);
  return sections(
    [
      ...simulatedBand(simulated, options),
      ...labelled(direction.toUpperCase(), STYLES[direction], clean(summary), options),
      ...(mixed === null ? [] : hanging('', clean(mixed), width)),
    ],
    (['A', 'B'] as const).flatMap((side) => {
      const compared = side === 'A' ? a : b;
      return [
        paint('strong', truncate(`${side}  ${clean(sideText(compared))}`, width)),
        ...(compared.verdict === null ? [] : hanging('   ', clean(verdictText(compared.verdict)), width)),
      ];
    }),
    ...sectionsOf(report).map(([section, rows]) => rowLines(sectionTitle(report, section), rows, options)),
    findings.flatMap(({ id, in: side, summary: text }) =>
      hanging(`only in ${side.toUpperCase()}  `, clean(`${id}: ${text}`), width),
    ),
    [...notes.flatMap((note) => hanging('note  ', clean(note), width)), paint('dim', sameText(report))],
  );
}

function rowLines(title: string, rows: readonly ComparedRow[], { paint, unicode, width }: RenderOptions): string[] {
  const value = (of: ComparedRow['a'], unit: ComparedRow['unit']) => truncate(clean(valueText(of, unit)), VALUE_WIDTH);
  const lines = headedTable(
    ['flexible', 'right', 'right', 'right'],
    [
      [title, 'A', 'B', 'change'],
      ...rows
        .slice(0, LISTED)
        .map((row) => [clean(nameText(row)), value(row.a, row.unit), value(row.b, row.unit), changeText(row, unicode)]),
    ],
    width,
    paint,
  );
  const more = rows.length - LISTED;
  return more > 0 ? [...lines, paint('dim', `and ${more} more with smaller changes: --json`)] : lines;
}
