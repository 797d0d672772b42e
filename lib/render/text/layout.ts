/** The report of a layout: its parts, what the machine lost while all of them were held, and what came back. */
import { clean, formatBoth, inGB, inGiB } from '../../base/format.ts';
import type { LayoutPart, LayoutReport } from '../../types/index.ts';
import { capital, kindStyle, moved, ms, sentence, sizeWords } from '../numbers.ts';
import { meter, type RenderOptions } from '../options.ts';
import { type Column, hanging, table } from '../text-layout.ts';
import { closing, probeHeader, sections, settledLines, unfinishedLines } from './probe-header.ts';

export function layoutPage(report: LayoutReport, look: RenderOptions): string[] {
  return sections(
    probeHeader(report, look),
    unfinishedLines(report, look),
    partsTable(report, look),
    sums(report, look),
    settledLines(report.settled, look),
    ending(report, look),
  );
}

function partsTable({ parts, kind, expectedBytes, kinds }: LayoutReport, look: RenderOptions): string[] {
  const call = kinds.find((support) => support.kind === kind)?.call ?? null;
  const most = Math.max(1, ...parts.map((part) => part.expectedBytes));
  const rows = parts.map((part) => [
    clean(part.name).slice(0, 40),
    meter(part.expectedBytes, most, 12, kindStyle(kind), look),
    inGB(part.expectedBytes),
    inGiB(part.expectedBytes),
    ms(part.allocMs),
    ms(part.firstTouchMs),
    part.state === 'ok' ? '' : look.paint('warning', part.state),
  ]);
  const heads = ['part', '', 'GB', 'GiB', 'alloc ms', 'touch ms', ''].map((head) => look.paint('dim', head));
  const total = ['all parts', '', inGB(expectedBytes), inGiB(expectedBytes), '', '', ''].map((cell) =>
    look.paint('strong', cell),
  );
  const number: Column = { align: 'right' };
  const columns: Column[] = [{ align: 'left' }, { align: 'left' }, number, number, number, number, { align: 'left' }];
  return [
    `${look.paint(kindStyle(kind), kind)}${look.paint('dim', `  all held at once${call === null ? '' : `, each by ${clean(call)}`}`)}`,
    ...table(columns, [heads, ...rows, total], look.width),
    ...parts.filter((part) => part.reason !== null).flatMap((part) => reason(part, look)),
  ];
}

function reason(part: LayoutPart, look: RenderOptions): string[] {
  return hanging(`${clean(part.name).slice(0, 40)}  ${part.state}  `, clean(part.reason ?? ''), look.width);
}

function sums(report: LayoutReport, look: RenderOptions): string[] {
  const { allocatedBytes, consumedBytes, overheadBytes, consumedFrom } = report;
  const share =
    overheadBytes === null || allocatedBytes === 0 ? '' : `${((overheadBytes / allocatedBytes) * 100).toFixed(2)} %`;
  const rows = [
    ['expected', formatBoth(report.expectedBytes), 'the sum of what was asked for'],
    ['allocated', formatBoth(allocatedBytes), 'what the allocator gave'],
    ['consumed', formatBoth(consumedBytes), `what the machine lost meanwhile: ${clean(consumedFrom)}`],
    [
      'overhead',
      overheadBytes === null ? 'unknown' : moved(overheadBytes, look.unicode),
      `consumed less allocated${share === '' ? '' : `: ${share}`}`,
    ],
  ];
  return table([{ align: 'left' }, { align: 'right' }, { align: 'left', flexible: true }], rows, look.width);
}

function ending(report: LayoutReport, look: RenderOptions): string[] {
  const held = report.parts.filter(({ state }) => state === 'ok').length;
  const words = `${held} of ${report.parts.length} parts were held at once, ${formatBoth(report.allocatedBytes)}.`;
  const why = report.reason === null ? '' : `${sentence(report.reason)} `;
  switch (report.state) {
    case 'complete':
      return closing('fits', 'ok', words, null, look);
    case 'incomplete':
      return closing('does not fit', 'warning', `${why}${words}`, null, look);
    case 'lost':
      return closing('lost', 'danger', `${capital(why)}${words}`, null, look);
    case 'aborted':
    case 'stopped':
    case 'timeout':
      return closing(report.state, 'warning', `${capital(why)}${words}`, null, look);
  }
}

/** One part as a line of a log. */
export function layoutPartLine(part: LayoutPart, done: number, total: number): string {
  const place = `${String(done).padStart(String(total).length)}/${total}`;
  const name = `${clean(part.name).slice(0, 40)} ${sizeWords(part.expectedBytes)}`;
  if (part.state !== 'ok') return `${place}  ${name}  ${part.state}: ${clean(part.reason ?? 'unknown')}`;
  return `${place}  ${name}  alloc ${ms(part.allocMs)} ms  touch ${ms(part.firstTouchMs)} ms`;
}
