/** The page of a layout: whether it fits, its parts, the machine's loss meanwhile, and the memory that came back. */
import { capitalized, clean, formatBoth, inGB, inGiB } from '../../../base/format.ts';
import type { LayoutPart, LayoutReport } from '../../../types/index.ts';
import { kindStyle } from '../kinds.ts';
import { moved, ms, sentence, sizeText } from '../numbers.ts';
import { meter, type RenderOptions } from '../options.ts';
import { type Column, hanging, table } from '../text-layout.ts';
import { sections } from './frame.ts';
import { firstLines, outcomeLines, probeHeader, settledLines } from './probe-header.ts';

export function layoutPage(report: LayoutReport, options: RenderOptions): string[] {
  return sections(
    firstLines(report, answerLines(report, options), options),
    probeHeader(report, options),
    partsTable(report, options),
    sumsTable(report, options),
    settledLines(report.settled, options),
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
  const columns: Column[] = ['left', 'left', 'right', 'right', 'right', 'right', 'left'];
  return [
    `${options.paint(kindStyle(kind), kind)}${options.paint('dim', `  all held at once${call === null ? '' : `, each by ${clean(call)}`}`)}`,
    ...table(columns, [heads, ...rows, total], options.cut),
    ...parts.filter((part) => part.reason !== null).flatMap((part) => reasonLines(part, options)),
  ];
}

function reasonLines(part: LayoutPart, options: RenderOptions): string[] {
  return hanging(`${clean(part.name).slice(0, 40)}  ${part.state}  `, clean(part.reason ?? ''), options.width);
}

function sumsTable(report: LayoutReport, options: RenderOptions): string[] {
  const { allocatedBytes, consumedBytes, overheadBytes, consumedFrom } = report;
  const share =
    overheadBytes === null || allocatedBytes === 0 ? '' : `${((overheadBytes / allocatedBytes) * 100).toFixed(2)} %`;
  const rows = [
    ['expected', formatBoth(report.expectedBytes), 'sum of the requested sizes'],
    ['allocated', formatBoth(allocatedBytes), 'sum of the allocated sizes'],
    ['consumed', formatBoth(consumedBytes), `lost by the machine meanwhile: ${clean(consumedFrom)}`],
    [
      'overhead',
      overheadBytes === null ? 'unknown' : moved(overheadBytes, options.unicode),
      overheadBytes === null && consumedBytes !== null
        ? 'the rest came from the driver’s pools or other programs'
        : `consumed minus allocated${share === '' ? '' : `: ${share}`}`,
    ],
  ];
  return table(['left', 'right', 'flexible'], rows, options.cut);
}

function answerLines(report: LayoutReport, options: RenderOptions): string[] {
  const heldParts = report.parts.filter(({ state }) => state === 'ok').length;
  const held = `${heldParts} of ${report.parts.length} parts were held at once, ${formatBoth(report.allocatedBytes)}.`;
  const reason = report.reason === null ? '' : `${sentence(report.reason)} `;
  switch (report.state) {
    case 'complete':
      return outcomeLines('fits', 'ok', held, options);
    case 'incomplete':
      return outcomeLines('does not fit', 'warning', reason + held, options);
    case 'lost':
      return outcomeLines('lost', 'danger', capitalized(reason) + held, options);
    case 'aborted':
    case 'stopped':
    case 'timeout':
      return outcomeLines(report.state, 'warning', capitalized(reason) + held, options);
  }
}

/** One part as a line of a log. */
export function layoutPartLine(part: LayoutPart, done: number, total: number): string {
  const place = `${String(done).padStart(String(total).length)}/${total}`;
  const name = `${clean(part.name).slice(0, 40)} ${sizeText(part.expectedBytes)}`;
  if (part.state !== 'ok') return `${place}  ${name}  ${part.state}: ${clean(part.reason ?? 'unknown')}`;
  return `${place}  ${name}  alloc ${ms(part.allocMs)} ms  touch ${ms(part.firstTouchMs)} ms`;
}
