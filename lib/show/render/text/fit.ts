/** Answer of fit: the verdict, a bar of the pool, and each program's decision. */
import { clean, formatBoth, inGiB } from '../../../base/format.ts';
import type {
  FitLargest,
  FitProgramReport,
  FitRange,
  FitRemedy,
  FitReport,
  FitTable,
  FitTogether,
} from '../../../types/index.ts';
import { MODEL_PROGRAMS } from '../../../types/programs.ts';
import {
  type FitPart,
  fitParts,
  LARGEST_USES,
  largestNote,
  largestText,
  loadableOf,
  memoryName,
  nearestTexts,
  type Pooled,
  peakParts,
  placeOf,
  solutionText,
  VERDICTS,
} from '../fit-parts.ts';
import { amount, type RenderOptions } from '../options.ts';
import { type Column, hanging, padEnd, table, truncate, widthOf } from '../text-layout.ts';
import { fitting, flow, labelled, sections, simulatedBand } from './frame.ts';
import { barOf, mark } from './snapshot-memory.ts';

export interface FitView {
  /** The model or the size that was asked about. */
  title: string;
  /** The rules behind the numbers, too. */
  all: boolean;
}

/** The steps by which the page gets shorter in a window of few rows. */
const SHORTER = { noBar: 1, noBlankLines: 2 };

export function fitPage(report: FitReport, view: FitView, options: RenderOptions): string[] {
  const { simulated } = report;
  const page = (step: number): string[] => {
    const parts = [
      [...simulatedBand(simulated, options), ...verdictLines(report, options)],
      poolLines(step < SHORTER.noBar ? report : { ...report, pool: null }, clean(view.title), options),
      [...programLines(report, view, options), ...detailLines(report, view, options)],
    ];
    return step < SHORTER.noBlankLines ? sections(...parts) : parts.flat();
  };
  return view.all ? page(0) : fitting(SHORTER.noBlankLines, page, options);
}

function poolLines(report: Pooled, title: string, options: RenderOptions): string[] {
  const { pool } = report;
  if (pool === null) return [options.paint('strong', truncate(title, options.width))];
  const parts = fitParts(report);
  const width = options.width - 2;
  const whole = parts.reduce((sum, { bytes }) => sum + bytes, 0);
  const limit = Math.round(((pool.used + loadableOf(pool)) / whole) * width);
  const total = `${memoryName(report)} ${options.exact ? amount(pool.total, options) : formatBoth(pool.total)}`;
  return [
    ...flow([title, total], options).map((line) => options.paint('strong', truncate(line, options.width))),
    barOf(parts, options),
    marker(limit, width, options),
    ...legend(
      parts.filter(({ bytes }) => bytes > 0),
      options,
    ),
  ];
}

/** Meaning of the bar's letters: two in a line if the window is wide enough. */
function legend(parts: readonly FitPart[], options: RenderOptions): string[] {
  const rows = parts.map((part) => [
    mark(part, options),
    part.name,
    options.exact ? amount(part.bytes, options) : `${inGiB(part.bytes)} GiB`,
  ]);
  const columns: Column[] = ['left', 'left', 'right'];
  const half = Math.ceil(rows.length / 2);
  const pairs = rows.slice(0, half).map((row, index) => [...row, ...(rows[half + index] ?? ['', '', ''])]);
  const wide = table([...columns, ...columns], pairs, Number.POSITIVE_INFINITY);
  return wide.every((line) => widthOf(line) <= options.width) ? wide : table(columns, rows, options.width);
}

/** Points at the cell up to which can be loaded. */
function marker(cell: number, width: number, { paint, unicode }: RenderOptions): string {
  const arrow = unicode ? '▲' : '^';
  const label = 'limit';
  const place = Math.min(Math.max(cell, 0), width);
  const text =
    place >= widthOf(label) + 1
      ? `${' '.repeat(place - widthOf(label) - 1)}${label} ${arrow}`
      : `${' '.repeat(place)}${arrow} ${label}`;
  return paint('dim', text);
}

/** One line per program: its verdict, and its decision in short; one program, or --rules, shows all of it. */
function programLines({ programs }: FitReport, { all }: FitView, options: RenderOptions): string[] {
  if (programs.length === 0) return [];
  const { paint, width } = options;
  const nameWidth = Math.max(...programs.map(({ program }) => MODEL_PROGRAMS[program].length));
  const labelWidth = Math.max(...programs.map(({ verdict }) => VERDICTS[verdict][0].length));
  const isShort = programs.length > 1 && !all;
  return programs.flatMap((program) => {
    const [label, style] = VERDICTS[program.verdict];
    const head = `${MODEL_PROGRAMS[program.program].padEnd(nameWidth)}  ${label.toLowerCase().padEnd(labelWidth)}  `;
    const decision = isShort ? program.decision.replace(/(?:: |, ).*$/, '') : program.decision;
    const [first = '', ...more] = hanging(head, decision, width);
    const painted = head.replace(label.toLowerCase(), paint(style, label.toLowerCase()));
    const details = isShort
      ? stepsOf(program, head.length, options)
      : programDetails(program, all, ' '.repeat(4), options);
    return [painted + first.slice(head.length), ...more, ...details];
  });
}

/** Steps that would change a decision, in short: `--for` has the commands. */
function stepsOf({ remedies, verdict }: FitProgramReport, indent: number, { unicode, width }: RenderOptions): string[] {
  if (verdict === 'fits' || remedies.length === 0) return [];
  const arrow = unicode ? '→' : '->';
  const texts = remedies.map(({ text }) => text.replace(/(?:, |: ).*$/, ''));
  return hanging(`${' '.repeat(indent)}${arrow} `, texts.join(', '), width);
}

function programDetails(program: FitProgramReport, all: boolean, indent: string, options: RenderOptions): string[] {
  const { aboutFlags, flags, from, message, notes, reads, verdict, versions } = program;
  const rows: [string, string | null][] = [
    ['reads', reads === null || !all ? null : `${amount(reads, options)}: ${from}`],
    ['prints', message],
    ['rule', program.inequality === null || !all ? null : `${program.inequality.rule} (${versions})`],
    ...notes.map((note): [string, string] => ['note', note]),
    ...(verdict === 'no' ? [] : aboutFlags.map((text): [string, string] => ['flags', text])),
  ];
  const lines = rows.flatMap(([label, text]) =>
    text === null ? [] : hanging(`${indent}${label.padEnd(7)}`, clean(text), options.width),
  );
  // Flags are pasted: they are not broken. Flags that fit stand in the answer.
  if (flags === null || verdict === 'fits') return lines;
  return [...lines, `${indent}${'flags'.padEnd(7)}${options.paint('strong', flags)}`];
}

/** "61.2 GiB, at most 124.8 GiB". */
function most({ bytes, high }: FitRange, options: RenderOptions): string {
  return high > bytes ? `${amount(bytes, options)}, at most ${amount(high, options)}` : amount(bytes, options);
}

/** Notes on the numbers; with --rules the comparison and the source of the limit. */
function detailLines(report: FitReport, { all }: FitView, options: RenderOptions): string[] {
  const { inequality, limit, notes } = report;
  const { unicode, width } = options;
  const lines: string[] = [];
  const parts = peakParts(report);
  if (parts !== null)
    lines.push(
      ...hanging(
        'need  ',
        `${parts.peak} ${most(report.need, options)}; ${parts.stays} ${most(report.serving, options)}`,
        width,
      ),
    );
  if (all && inequality !== null) {
    const { left, relation, right } = inequality;
    const sign = relation === '<=' && unicode ? '≤' : relation;
    const text = `${left.name} ${amount(left.bytes, options)} ${sign} ${right.name} ${amount(right.bytes, options)}`;
    lines.push(...hanging('compared  ', clean(text), width));
  }
  if (all && limit.bytes !== null) lines.push(...hanging('limit     ', limit.from, width));
  for (const note of notes) lines.push(...hanging('note  ', note, width));
  return lines.map((line) => options.paint('dim', line));
}

/** Steps after which it fits, below the verdict. */
export function remediesBelow(label: string, remedies: readonly FitRemedy[], options: RenderOptions): string[] {
  const head = `${' '.repeat(label.length + 2)}${options.unicode ? '→' : '->'} `;
  return remedies.flatMap(({ command, gains, text }) => {
    const gain = gains === null ? '' : ` (+${amount(gains, options)})`;
    return [
      ...hanging(head, `${text}${gain}`, options.width),
      ...(command === null ? [] : [`${' '.repeat(head.length)}${options.paint('strong', command)}`]),
    ];
  });
}

/** Settings that fit, below the verdict. */
export function nearestBelow(
  label: string,
  report: FitReport | FitTogether,
  { paint, unicode, width }: RenderOptions,
): string[] {
  const indent = ' '.repeat(label.length + 2);
  return nearestTexts(report).flatMap(({ flags, text }) => [
    ...hanging(`${indent}${unicode ? '≈' : '~'} `, clean(text), width),
    ...(flags === null ? [] : [`${indent}  ${paint('strong', flags)}`]),
  ]);
}

/** The answer: the largest setting if it was asked for, the verdict, flags to paste, steps, and settings that fit. */
function verdictLines(report: FitReport, options: RenderOptions): string[] {
  const { programs, remedies, solved, summary, verdict } = report;
  const [label, style] = VERDICTS[verdict];
  const { paint, width } = options;
  const answer = solved === null ? [] : [paint('strong', truncate(`SOLVED  ${solutionText(solved)}`, width))];
  const [program, ...others] = programs;
  const flags = others.length === 0 && program?.verdict === 'fits' ? program.flags : null;
  return [
    ...answer,
    ...labelled(label, style, summary, options),
    ...(flags === null ? [] : [`${' '.repeat(label.length + 2)}${paint('strong', flags)}`]),
    ...remediesBelow(label, remedies, options),
    ...nearestBelow(label, report, options),
  ];
}

/** Name of a table, what can be loaded, and whose verdict it is. */
function tableTitle(
  title: string,
  { limit, program }: FitTable | FitLargest,
  { paint, width }: RenderOptions,
): string[] {
  const loadable = limit === null ? 'what can be loaded is unknown' : `${inGiB(limit)} GiB can be loaded`;
  const judge = program === null ? '' : `, by the rule of ${MODEL_PROGRAMS[program]}`;
  return [paint('strong', truncate(`${title}  ${loadable}${judge}`, width))];
}

/** Sizes by precision: the weights, and whether they fit with what else was given. */
export function fitTablePage(report: FitTable, options: RenderOptions): string[] {
  const { rows, simulated } = report;
  const { paint, width } = options;
  const dtypes = rows[0]?.cells.map(({ dtype }) => dtype) ?? [];
  const cellsOfRow = ({ cells: own }: FitTable['rows'][number]): string[] =>
    own.flatMap(({ need, verdict }) => {
      const [label, style] = VERDICTS[verdict];
      return [`${inGiB(need.bytes)}`, paint(style, label.toLowerCase())];
    });
  const body = [
    ['', ...dtypes.flatMap((dtype) => [paint('heading', dtype), ''])],
    ...rows.map((row) => [truncate(clean(row.name), 24), ...cellsOfRow(row)]),
  ];
  return sections(
    simulatedBand(simulated, options),
    tableTitle('WHICH PRECISIONS FIT, in GiB', report, options),
    table(['left', ...dtypes.flatMap(() => ['right', 'left'] as const)], body, width),
  );
}

/** Parameters of the largest that fits in each precision, by use. */
export function fitLargestPage(report: FitLargest, options: RenderOptions): string[] {
  const { rows, simulated, uses } = report;
  const { paint, width } = options;
  const body = [
    ['', 'bytes each', ...uses.map((use) => LARGEST_USES[use])].map((cell) => paint('heading', cell)),
    ...rows.map(({ bytesPerWeight, cells: own, dtype }) => [
      dtype,
      String(Number(bytesPerWeight.toPrecision(3))),
      ...own.map((cell) => largestText(cell)),
    ]),
  ];
  return sections(
    simulatedBand(simulated, options),
    tableTitle('LARGEST MODEL THAT FITS, in parameters', report, options),
    table(['left', 'right', ...uses.map(() => 'right' as const)], body, width),
    hanging('', largestNote(report), width).map((line) => paint('dim', line)),
  );
}

/** Several models: the verdict, the pool with each of them, and the order of their starts with the flags of each. */
export function fitTogetherPage(report: FitTogether, options: RenderOptions): string[] {
  const { models, notes, program, remedies, simulated, summary, verdict } = report;
  const { paint, width } = options;
  const [label, style] = VERDICTS[verdict];
  const isOllama = program === 'ollama';
  const order = isOllama ? 'Loaded when they are asked for, in any order' : 'Start them in this order, one by one';
  const nameWidth = Math.max(...models.map((model, index) => widthOf(placeOf(model, index))));
  const rows = models.flatMap((model, index) => {
    const [own] = model.fit.programs;
    const [verdictName, ownStyle] = VERDICTS[model.fit.verdict];
    const word = verdictName.toLowerCase();
    const name = padEnd(placeOf(model, index), nameWidth);
    const head = `${name}  ${word.padEnd(10)}  `;
    const [first = '', ...more] = hanging(head, own?.decision ?? model.fit.summary, width);
    const flags = own === undefined || isOllama || own.flags === null ? [] : [`    ${paint('strong', own.flags)}`];
    const about =
      verdict === 'no' ? [] : (own?.aboutFlags ?? []).flatMap((text) => hanging('    ', clean(text), width));
    return [
      `${name}  ${paint(ownStyle, word)}${first.slice(name.length + 2 + word.length)}`,
      ...more,
      ...flags,
      ...about,
    ];
  });
  const [environment] = models.map(({ fit }) => fit.programs[0]?.flags ?? null);
  return sections(
    [
      ...simulatedBand(simulated, options),
      ...labelled(label, style, clean(summary), options),
      ...remediesBelow(label, remedies, options),
      ...nearestBelow(label, report, options),
    ],
    poolLines(report, `${models.length} models · ${MODEL_PROGRAMS[program]}`, options),
    [
      paint('heading', order),
      ...rows,
      ...(isOllama && environment != null ? [`    ${paint('strong', environment)}`] : []),
      ...notes.flatMap((note) => hanging('note  ', clean(note), width)).map((line) => paint('dim', line)),
    ],
  );
}
