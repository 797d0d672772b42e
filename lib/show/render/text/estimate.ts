/** The page of an estimate: the total, its terms with a bar and a range, and what loading takes besides. */
import { clean, formatBoth, formatBytes, formatCount, inGB, inGiB } from '../../../base/format.ts';
import type { EstimateRange, EstimateReport, EstimateTable, EstimateTerm } from '../../../types/index.ts';
import { modelFacts, useFacts } from '../estimate-facts.ts';
import { TERM_LABELS } from '../fit-parts.ts';
import { amount, dot, meter, type RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { type Column, hanging, table } from '../text-layout.ts';
import { flow, labelled, sections } from './frame.ts';

const STYLES: Readonly<Record<string, Style>> = {
  weights: 'gpu',
  'kv-cache': 'anonymous',
  'recurrent-state': 'anonymous',
};

export function estimatePage(report: EstimateReport, formulas: boolean, options: RenderOptions): string[] {
  return sections(
    conclusion(report, options),
    header(report, options),
    termTable(report, options),
    loadingLines(report, options),
    formulas ? formulaLines(report, options) : [],
    noteLines(report, options),
  );
}

function header({ model, use }: EstimateReport, options: RenderOptions): string[] {
  const facts = modelFacts(model);
  return [
    options.paint('strong', clean(model.name)),
    ...(facts.length === 0 ? [] : flow(facts.map(clean), options)),
    options.paint('dim', useFacts(use).map(clean).join(dot(options))),
  ];
}

function rangeText({ low, high, bytes }: EstimateRange, options: RenderOptions): string {
  if (low === bytes && high === bytes) return '';
  return options.exact ? `${formatCount(low)} to ${formatCount(high)}` : `${inGiB(low)} to ${inGiB(high)}`;
}

function termTable({ terms, total }: EstimateReport, options: RenderOptions): string[] {
  const most = Math.max(1, ...terms.map(({ bytes }) => bytes));
  const { exact, paint } = options;
  const row = (label: string, bar: string, range: EstimateRange): string[] => [
    label,
    bar,
    exact ? formatCount(range.bytes) : inGiB(range.bytes),
    ...(exact ? [] : [inGB(range.bytes)]),
    rangeText(range, options),
  ];
  const heads = ['', '', ...(exact ? ['bytes'] : ['GiB', 'GB']), exact ? 'range, bytes' : 'range, GiB'].map((head) =>
    paint('dim', head),
  );
  const rows = terms.map((term) =>
    row(
      TERM_LABELS[term.name] ?? clean(term.name),
      meter(term.bytes, most, 16, STYLES[term.name] ?? 'cache', options),
      term,
    ),
  );
  const last = row('total', '', total).map((cell) => paint('strong', cell));
  const columns: Column[] = ['left', 'left', 'right', ...(exact ? [] : ['right' as const]), 'right'];
  return table(columns, [heads, ...rows, last], options.width);
}

function loadingLines({ loading, total, use }: EstimateReport, options: RenderOptions): string[] {
  const isServing = use.use === 'inference';
  const extra = loading.terms.filter(({ high }) => high > 0);
  if (extra.length === 0) return [];
  const parts = extra.map((term) => `${TERM_LABELS[term.name] ?? term.name} ${upTo(term, options)}`);
  const peak =
    loading.peak.high > total.high || loading.peak.bytes > total.bytes
      ? ` ${isServing ? 'Peak of the start' : 'With a checkpoint being written'} ${most(loading.peak, options)}; ${isServing ? 'while serving' : 'while it trains'} ${most(total, options)}.`
      : '';
  return hanging('start  ', `${parts.join(', ')}.${peak}`, options.width);
}

function most({ bytes, high }: EstimateRange, options: RenderOptions): string {
  const size = amount(bytes, options);
  return high > bytes ? `${size}, at most ${amount(high, options)}` : size;
}

function upTo(term: EstimateTerm, options: RenderOptions): string {
  const size = term.low === term.high ? amount(term.bytes, options) : `up to ${amount(term.high, options)}`;
  return term.name === 'page-cache' ? `${size} (the kernel gives it back)` : size;
}

function formulaLines({ loading, terms }: EstimateReport, options: RenderOptions): string[] {
  return [...terms, ...loading.terms].flatMap(({ formula, inputs, name }) => {
    const values = Object.entries(inputs).map(
      ([key, value]) => `${key} ${typeof value === 'number' ? formatCount(value) : String(value)}`,
    );
    return [
      ...hanging(`${name} = `, formula, options.width),
      ...(values.length === 0 ? [] : hanging('  ', values.join(', '), options.width)).map((line) =>
        options.paint('dim', line),
      ),
    ];
  });
}

function noteLines({ kvBytesPerToken, notes }: EstimateReport, options: RenderOptions): string[] {
  const perToken =
    kvBytesPerToken === null || kvBytesPerToken === 0
      ? []
      : [`One more token of context takes ${formatBytes(kvBytesPerToken)}.`];
  return [...perToken, ...notes].flatMap((note) => hanging('note  ', clean(note), options.width));
}

function conclusion({ total, method }: EstimateReport, options: RenderOptions): string[] {
  const spread = total.low === total.high ? '' : `; between ${formatBytes(total.low)} and ${formatBytes(total.high)}`;
  const sentence = `${formatBoth(total.bytes)}${method === 'rough' ? ' by a rule of thumb' : ''}${spread}.`;
  return labelled('ESTIMATE', 'strong', sentence, options);
}

/** Weights by precision: a row for each model size. */
export function tablePage({ columns, rows }: EstimateTable, options: RenderOptions): string[] {
  const head = ['', ...columns.flatMap((dtype) => [dtype, ''])].map((cell) => options.paint('dim', cell));
  const units = ['parameters', ...columns.flatMap(() => ['GB', 'GiB'])].map((cell) => options.paint('dim', cell));
  const cells = rows.map(({ bytes, name }) => [
    clean(name),
    ...bytes.flatMap((size) => (options.exact ? [formatCount(size), ''] : [gigabytes(size), inGiB(size)])),
  ]);
  return sections(
    table(['left', ...columns.flatMap(() => ['right', 'right'] as const)], [head, units, ...cells], options.width),
    hanging(
      'note  ',
      'Weights alone: parameters × bits / 8. Cache, buffers and the process come on top: umaprobe estimate <model>.',
      options.width,
    ),
  );
}

/** "3.5", "140": as many digits as the size has. */
function gigabytes(bytes: number): string {
  return String(Number((bytes / 1e9).toPrecision(4)));
}
