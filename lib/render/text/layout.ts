/** The report of a layout: its parts, what the machine lost while all of them were held, and what came back. */
import { clean, formatBoth, inGB, inGiB } from '../../base/format.ts';
import type { LayoutPart, LayoutReport } from '../../types/index.ts';
import { kindStyle } from '../kinds.ts';
import { capital, moved, ms, sentence, sizeWords } from '../numbers.ts';
import { meter, type RenderOptions } from '../options.ts';
import { type Column, hanging, table } from '../text-layout.ts';
import { closing, probeHeader, sections, settledLines, unfinishedLines } from './probe-header.ts';

export function layoutPage(report: LayoutReport, options: RenderOptions): string[] {
  return sections(
    probeHeader(report, options),
    unfinishedLines(report, options),
    partsTable(report, options),
    sums(report, options),
    settledLines(report.settled, options),
    ending(report, options),
  );
}

function partsTable({ parts, kind, expectedBytes, kinds }: LayoutReport, options: RenderOptions): string[] {
  const call = kinds.find((support) => support.kind === kind)?.call ?? null;
  const most = Math.max(1, ...parts.map((part) => part.expectedBytes));
  const rows = parts.map((part) => [
    clean(part.name).slice(0, 40),
    meter(part.expectedBytes, most, 12, kindStyle(kind), options),
    inGB(part.expectedBytes),
    inGiB(part.expectedBytes),
    ms(part.allocMs),
    ms(part.firstTouchMs),
    part.state === 'ok' ? '' : options.paint('warning', part.state),
  ]);
  const heads = ['part', '', 'GB', 'GiB', 'alloc ms', 'touch ms', ''].map((head) => options.paint('dim', head));
  const total = ['all parts', '', inGB(expectedBytes), inGiB(expectedBytes), '', '', ''].map((cell) =>
    options.paint('strong', cell),
  );
  const number: Column = { align: 'right' };
  const columns: Column[] = [{ align: 'left' }, { align: 'left' }, number, number, number, number, { align: 'left' }];
  return [
    `${options.paint(kindStyle(kind), kind)}${options.paint('dim', `  all held at once${call === null ? '' : `, each by ${clean(call)}`}`)}`,
    ...table(columns, [heads, ...rows, total], options.width),
    ...parts.filter((part) => part.reason !== null).flatMap((part) => reason(part, options)),
  ];
}

function reason(part: LayoutPart, options: RenderOptions): string[] {
  return hanging(`${clean(part.name).slice(0, 40)}  ${part.state}  `, clean(part.reason ?? ''), options.width);
}

function sums(report: LayoutReport, options: RenderOptions): string[] {
  const { allocatedBytes, consumedBytes, overheadBytes, consumedFrom } = report;
  const share =
    overheadBytes === null || allocatedBytes === 0 ? '' : `${((overheadBytes / allocatedBytes) * 100).toFixed(2)} %`;
  const rows = [
    ['expected', formatBoth(report.expectedBytes), 'the sum of what was asked for'],
    ['allocated', formatBoth(allocatedBytes), 'what the allocator gave'],
    ['consumed', formatBoth(consumedBytes), `what the machine lost meanwhile: ${clean(consumedFrom)}`],
    [
      'overhead',
      overheadBytes === null ? 'unknown' : moved(overheadBytes, options.unicode),
      `consumed less allocated${share === '' ? '' : `: ${share}`}`,
    ],
  ];
  return table([{ align: 'left' }, { align: 'right' }, { align: 'left', flexible: true }], rows, options.width);
}

function ending(report: LayoutReport, options: RenderOptions): string[] {
  const held = report.parts.filter(({ state }) => state === 'ok').length;
  const words = `${held} of ${report.parts.length} parts were held at once, ${formatBoth(report.allocatedBytes)}.`;
  const why = report.reason === null ? '' : `${sentence(report.reason)} `;
  switch (report.state) {
    case 'complete':
      return closing('fits', 'ok', words, null, options);
    case 'incomplete':
      return closing('does not fit', 'warning', `${why}${words}`, null, options);
    case 'lost':
      return closing('lost', 'danger', `${capital(why)}${words}`, null, options);
    case 'aborted':
    case 'stopped':
    case 'timeout':
      return closing(report.state, 'warning', `${capital(why)}${words}`, null, options);
  }
}

/** One part as a line of a log. */
export function layoutPartLine(part: LayoutPart, done: number, total: number): string {
  const place = `${String(done).padStart(String(total).length)}/${total}`;
  const name = `${clean(part.name).slice(0, 40)} ${sizeWords(part.expectedBytes)}`;
  if (part.state !== 'ok') return `${place}  ${name}  ${part.state}: ${clean(part.reason ?? 'unknown')}`;
  return `${place}  ${name}  alloc ${ms(part.allocMs)} ms  touch ${ms(part.firstTouchMs)} ms`;
}
