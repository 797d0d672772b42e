/** The pages of `fit`: a picture of the pool, what each program will decide, and what to do; or which precisions fit. */
import { formatBoth, formatBytes, inGB, inGiB, share } from '../../../base/format.ts';
import type {
  EstimateReport,
  FitLargest,
  FitPool,
  FitProgramReport,
  FitRemedy,
  FitReport,
  FitTable,
  FitTogether,
  FitVerdict,
} from '../../../types/index.ts';
import { MODEL_PROGRAMS } from '../../../types/programs.ts';
import { useFacts } from '../estimate-facts.ts';
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
import { barPicture, cellBar } from './bar.ts';
import { type Content, html, type Markup, scrollTable } from './markup.ts';
import { type Assets, type PageContent, page, timeText } from './page.ts';
import { type Figure, figures, list, saveButton, section } from './sections.ts';
import { rangeText, termsSection } from './terms.ts';

export interface FitPageView {
  /** The model or the size that was asked about. */
  heading: string;
  /** The estimate behind the need; null: a size was asked about. */
  estimated: EstimateReport | null;
}

export function fitHtml(report: FitReport, { estimated, heading }: FitPageView, assets: Assets): string {
  const { at, device, simulated } = report;
  const memory = device === null ? 'no GPU' : `${device.memoryModel} memory`;
  return page(
    report,
    {
      title: 'Does it fit?',
      heading,
      simulated,
      facts: [device?.name ?? null, memory, ...(estimated === null ? [] : useFacts(estimated.use)), timeText(at)],
      sections: [
        figures(keyFigures(report)),
        html`<section><p class="notice ${verdictClass(report.verdict)}">${report.summary}</p></section>\n`,
        report.solved === null ? null : section('The most that fits', html`<p>${solutionText(report.solved)}</p>`),
        poolSection(report),
        remediesSection(report.remedies),
        nearestSection(report),
        programsSection(report.programs),
        estimated === null ? null : termsSection(estimated),
        comparisonSection(report),
      ],
    },
    assets,
  );
}

const CLASSES = { ok: 'good', notice: 'caution', warning: 'caution', danger: 'warn' } as const;

/** Class of the colour of a verdict. */
function verdictClass(verdict: FitVerdict): string {
  return CLASSES[VERDICTS[verdict][1]];
}

export function verdictText(verdict: FitVerdict): Markup {
  return html`<strong class="${verdictClass(verdict)}">${VERDICTS[verdict][0].toLowerCase()}</strong>`;
}

function keyFigures({
  headroom,
  limit,
  need,
  shortBy,
  verdict,
}: Pick<FitReport, 'headroom' | 'limit' | 'need' | 'shortBy' | 'verdict'>): Figure[] {
  const figure = (term: string, bytes: number | null, more: string): Figure => ({
    term,
    value: bytes === null ? 'unknown' : `${inGiB(bytes)} GiB`,
    more,
  });
  const isShort = shortBy !== null && shortBy > 0;
  return [
    { term: 'Verdict', value: verdictText(verdict), more: 'before anything is allocated' },
    figure('Needed', need.bytes, need.high > need.bytes ? `at most ${inGiB(need.high)} GiB` : `${inGB(need.bytes)} GB`),
    figure(
      'Can be loaded',
      limit.bytes,
      limit.bytes === null ? limit.from : `${inGB(limit.bytes)} GB${afterText(limit)}`,
    ),
    isShort
      ? figure('Missing', shortBy, `${inGB(shortBy)} GB`)
      : figure('Could be loaded besides', headroom, headroom === null ? 'unknown' : `${inGB(headroom)} GB`),
  ];
}

function afterText({ after, bytes }: FitReport['limit']): string {
  return after === null || bytes === null || after <= bytes ? '' : `; ${inGiB(after)} GiB after the steps`;
}

const PART_STYLES: Readonly<Record<string, string>> = {
  unattributed: 'part-used',
  free: 'part-free',
  kernel: 'part-kept',
};

/** The pool with the need in it; null: its parts are not known. */
export function poolSection(report: Pooled): Markup | null {
  const { limit, need, pool } = report;
  if (pool === null) return null;
  const parts = fitParts(report);
  const loadable = loadableOf(pool);
  const whole = parts.reduce((sum, { bytes }) => sum + bytes, 0);
  const scale = Math.max(whole, pool.used + need.high);
  const marks = [
    { at: pool.used + loadable, label: `limit ${formatBytes(loadable)}` },
    ...(scale > pool.total ? [{ at: pool.total, label: `all the memory ${formatBytes(pool.total)}` }] : []),
  ];
  return section(
    'The pool',
    barPicture({
      label: `Of ${formatBytes(pool.total)}, ${parts
        .filter(({ bytes }) => bytes > 0)
        .map(({ bytes, name }) => `${name} ${formatBytes(bytes)}`)
        .join(', ')}.`,
      parts: parts.map((part) => ({
        style: styleOf(part),
        letter: part.letter === '.' ? '' : part.letter,
        bytes: part.bytes,
      })),
      range: [pool.used + need.bytes, pool.used + need.high],
      scale,
      marks,
    }),
    poolTable(parts, report, pool),
    limit.bytes === null ? null : html`<p class="small soft">The limit: ${limit.from}.</p>`,
  );
}

function styleOf({ style }: FitPart): string {
  return PART_STYLES[style] ?? style;
}

function poolTable(parts: readonly FitPart[], report: Pooled, pool: FitPool): Markup {
  const row = (part: FitPart, range: string): Markup =>
    html`<tr><th scope="row"><span class="${styleOf(part)}"><span class="name">${part.letter === '.' ? '' : `${part.letter} `}${part.name}</span></span></th><td>${inGiB(part.bytes)}</td><td>${inGB(part.bytes)}</td><td>${share(part.bytes, pool.total)} %</td><td>${range}</td></tr>\n`;
  return scrollTable(
    'Parts of the pool',
    'What is in use, what the model takes, what could be loaded besides, and what stays. The dashed outline reaches to the upper end of the need.',
    html`<tr><th scope="col" class="left">part</th><th scope="col">GiB</th><th scope="col">GB</th><th scope="col">of all</th><th scope="col">range, GiB</th></tr>`,
    // The terms follow the part in use.
    html`${parts.flatMap((part, index) => {
      const term = report.need.terms[index - 1];
      return part.bytes > 0 ? [row(part, term === undefined ? '' : rangeText(term))] : [];
    })}<tr class="total"><th scope="row">${memoryName(report)}</th><td>${inGiB(pool.total)}</td><td>${inGB(pool.total)}</td><td></td><td></td></tr>`,
  );
}

export function remediesSection(remedies: readonly FitRemedy[]): Markup | null {
  return remedies.length === 0 ? null : section('What to do', remedyList(remedies));
}

export function nearestSection(report: FitReport | FitTogether): Markup | null {
  const texts = nearestTexts(report);
  if (texts.length === 0) return null;
  const items = texts.map(
    ({ flags, text }) => html`<li>${text}${flags === null ? null : html`<br><code>${flags}</code>`}</li>`,
  );
  return section('The nearest setting', html`<ul>${items}</ul>`);
}

function remedyList(remedies: readonly FitRemedy[]): Markup {
  return html`<ol class="steps">${remedies.map(({ command, gains, needsRoot, text }) => {
    const gain = gains === null ? null : ` (+${formatBytes(gains)})`;
    const shell = command === null ? null : html`<br><code>${command}</code>`;
    return html`<li>${text}${gain}${needsRoot ? html` <span class="soft">needs root</span>` : null}${shell}</li>`;
  })}</ol>`;
}

function programsSection(programs: readonly FitProgramReport[]): Markup | null {
  if (programs.length === 0) return null;
  return section(
    programs.length === 1 ? 'What the program will do' : 'What each program will do',
    programs.map(programArticle),
  );
}

function programArticle(program: FitProgramReport): Markup {
  const { aboutFlags, decision, flags, from, inequality, message, notes, reads, remedies, verdict, versions } = program;
  const rows: (readonly [string, Content] | null)[] = [
    reads === null ? null : ['reads as free', `${formatBytes(reads)}: ${from}`],
    message === null ? null : ['prints', html`<code>${message}</code>`],
    inequality === null ? null : ['rule', `${inequality.rule} (${versions})`],
    inequality === null ? null : ['compared', comparison(inequality)],
    flags === null ? null : ['flags', html`<code>${flags}</code>`],
    ...aboutFlags.map((text) => ['flags', text] as const),
    ...notes.map((note) => ['note', note] as const),
  ];
  return html`<article><h3>${MODEL_PROGRAMS[program.program]} <span class="chip">${verdictText(verdict)}</span></h3><p>${decision}</p>${list(rows)}${remedies.length === 0 ? null : remedyList(remedies)}</article>\n`;
}

/** "need, at most 64.7 GiB ≤ can be loaded 103.9 GiB". */
function comparison({ left, relation, right }: NonNullable<FitReport['inequality']>): string {
  const sign = relation === '<=' ? '≤' : relation;
  return `${left.name} ${formatBytes(left.bytes)} ${sign} ${right.name} ${formatBytes(right.bytes)}`;
}

function comparisonSection(report: FitReport): Markup {
  const { inequality, limit, need, notes, serving } = report;
  const parts = peakParts(report);
  const rows: (readonly [string, Content] | null)[] = [
    inequality === null ? null : ['Compared', comparison(inequality)],
    inequality === null ? null : ['Rule', inequality.rule],
    ['Need', `${needText(need)}${parts === null ? '' : `: ${parts.peak}`}`],
    parts === null ? null : ['Stays', `${needText(serving)}: ${parts.stays}`],
    ['Limit', `${formatBoth(limit.bytes)}: ${limit.from}`],
    ...notes.map((note) => ['Note', note] as const),
  ];
  return section('How it was compared', list(rows), saveButton());
}

function needText({ bytes, high, low }: FitReport['serving']): string {
  return low === high
    ? formatBoth(bytes)
    : `${formatBoth(bytes)}, between ${formatBytes(low)} and ${formatBytes(high)}`;
}

/** Sizes by precision: the need, and whether it fits. */
export function fitTableHtml(report: FitTable, assets: Assets): string {
  const { limit, program, rows } = report;
  const dtypes = rows[0]?.cells.map(({ dtype }) => dtype) ?? [];
  const judge = program === null ? 'of the machine' : `of the machine and of ${MODEL_PROGRAMS[program]}`;
  const scale = Math.max(1, limit ?? 0, ...rows.flatMap(({ cells }) => cells.map(({ need }) => need.bytes)));
  const heading = rows.length === 1 ? (rows[0]?.name ?? 'Precisions') : 'Models by size and precision';
  const table = scrollTable(
    'Precisions',
    `Need of each precision in GiB, its verdict, which is that ${judge}, and its bar: the line is what can be loaded.`,
    html`<tr><th scope="col" class="left">model</th>${dtypes.map((dtype) => html`<th scope="col">${dtype}</th>`)}</tr>`,
    rows.map(
      ({ cells, name }) =>
        html`<tr><th scope="row">${name}</th>${cells.map((cell) => html`<td class="kind-1">${inGiB(cell.need.bytes)} ${verdictText(cell.verdict)}${cellBar(cell.need.bytes, { scale, ...(limit === null ? {} : { limit }) })}</td>`)}</tr>\n`,
    ),
  );
  return sizesPage(
    report,
    { title: 'Which precisions fit?', heading },
    section('Which precisions fit', table, saveButton()),
    assets,
  );
}

/** The page of a table of sizes. */
function sizesPage(
  report: FitTable | FitLargest,
  titles: Pick<PageContent, 'title' | 'heading'>,
  table: Markup,
  assets: Assets,
): string {
  const { at, limit, simulated } = report;
  const loadable = limit === null ? 'what can be loaded is unknown' : `${formatBoth(limit)} can be loaded`;
  return page(report, { ...titles, simulated, facts: [loadable, timeText(at)], sections: [table] }, assets);
}

export function fitLargestHtml(report: FitLargest, assets: Assets): string {
  const { rows, uses } = report;
  const table = scrollTable(
    'Parameters',
    largestNote(report),
    html`<tr><th scope="col" class="left">precision</th><th scope="col">bytes each</th>${uses.map((use) => html`<th scope="col">${LARGEST_USES[use]}</th>`)}</tr>`,
    rows.map(
      ({ bytesPerWeight, cells, dtype }) =>
        html`<tr><th scope="row">${dtype}</th><td>${String(Number(bytesPerWeight.toPrecision(3)))}</td>${cells.map((cell) => html`<td>${largestText(cell)}</td>`)}</tr>\n`,
    ),
  );
  const title = 'The largest model that fits';
  return sizesPage(report, { title, heading: title }, section('By precision and use', table, saveButton()), assets);
}

/** Several models: the pool with each of them, and the order of their starts. */
export function fitTogetherHtml(report: FitTogether, assets: Assets): string {
  const { at, device, models, notes, program, simulated, summary, verdict } = report;
  return page(
    report,
    {
      title: 'Do they fit together?',
      heading: `${models.length} models on ${MODEL_PROGRAMS[program]}`,
      simulated,
      facts: [device?.name ?? null, timeText(at)],
      sections: [
        figures(keyFigures(report)),
        html`<section><p class="notice ${verdictClass(verdict)}">${summary}</p></section>\n`,
        poolSection(report),
        remediesSection(report.remedies),
        nearestSection(report),
        section(
          program === 'ollama' ? 'Loaded in any order' : 'The order of their starts',
          models.map((model, index) => {
            const [own] = model.fit.programs;
            const rows: (readonly [string, Content] | null)[] = [
              ['keeps', needText(model.holds)],
              ['beside', formatBytes(model.beside)],
              own?.flags == null ? null : ['flags', html`<code>${own.flags}</code>`],
              ...(own?.aboutFlags ?? []).map((text) => ['flags', text] as const),
            ];
            return html`<article><h3>${placeOf(model, index)} <span class="chip">${verdictText(model.fit.verdict)}</span></h3><p>${own?.decision ?? model.fit.summary}</p>${list(rows)}</article>\n`;
          }),
        ),
        section('How it was compared', list(notes.map((note) => ['Note', note] as const)), saveButton()),
      ],
    },
    assets,
  );
}
