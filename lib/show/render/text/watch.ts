/** The pages of watch: the live picture on a terminal, and a line for each reading elsewhere. */
import { clean, UNKNOWN } from '../../../base/format.ts';
import { headroom } from '../../../core/memory/headroom.ts';
import type { LedgerEntry, ProcessesReport, Snapshot } from '../../../types/index.ts';
import { amount, type RenderOptions } from '../options.ts';
import { padStart, truncate, widthOf } from '../text-layout.ts';
import { sections, simulatedBand } from './frame.ts';
import { ownMemoryLines } from './snapshot.ts';
import { numberLines } from './snapshot-answer.ts';
import { barLines, legendLine, legendLines } from './snapshot-bar.ts';
import { processTable } from './snapshot-devices.ts';
import { answerLines, headerLines, sentenceLines } from './snapshot-header.ts';
import { ledgerTable, poolBar } from './snapshot-memory.ts';
import { healthLines } from './snapshot-pressure.ts';
import { toolsTable } from './snapshot-tools.ts';
import { type GraphView, graphLines, type History, LEAST_GRAPH } from './watch-history.ts';
import { entriesOf, LEAST_ROWS, type ProcessView, processLines, rowsOfList } from './watch-processes.ts';

/** Content of the live picture. */
export interface WatchView {
  snapshot: Snapshot;
  history: History;
  graph: Pick<GraphView, 'intervalMs' | 'span'>;
  /** null: they are being read. A text: why they are not known. */
  processes: ProcessesReport | string | null;
  list: ProcessView;
  /** Every counter. */
  full: boolean;
}

interface Section {
  /** The section with the lower rank gets the room. */
  rank: number;
  /** Lines without which it is left out, lines that it wants, and lines that it can fill. */
  least: number;
  good: number;
  most: number;
  lines(rows: number): readonly string[];
}

/** Sections stand apart from this many rows on; below the lower number only the answer and its numbers are shown. */
const ROOMY = 30;
const BRIEF = 12;
/** Each part of the bar has its own line from this many rows on, and the numbers say which tools see them. */
const TALL = 34;

/**
 * The live picture, in `rows` lines: whole sections, and the rest of the window for the graph and the processes. The
 * verdict and its numbers stay longest, and are cut only if the screen has fewer rows than they have lines.
 */
export function watchPage(view: WatchView, options: RenderOptions, rows: number): string[] {
  const { snapshot } = view;
  if (rows < BRIEF)
    return [
      ...simulatedBand(snapshot.simulated, options),
      ...answerLines(snapshot, options),
      ...numberLines(snapshot, options, { brief: true }),
      ...sentenceLines(snapshot, options),
    ].slice(0, rows);
  const all = [
    // A notice is normal: where rows are few, what could be done about it is left to `snapshot`.
    whole(0, [
      ...simulatedBand(snapshot.simulated, options),
      ...answerLines(snapshot, options),
      ...sentenceLines(snapshot, options, { remedy: rows >= TALL || snapshot.judgement.level !== 'notice' }),
    ]),
    whole(1, rows < TALL ? briefNumbers(snapshot, options) : numberLines(snapshot, options)),
    whole(2, ownMemoryLines(snapshot, options)),
    ...(view.full ? countersOf(view, options) : [whole(2, poolLines(snapshot, options, rows))]),
    graphSection(view, options),
    ...(view.full ? [] : [processSection(view, options), ...furtherOf(snapshot, options)]),
  ].filter(({ most }) => most > 0);
  return filled(all, rows);
}

function whole(rank: number, lines: readonly string[]): Section {
  return { rank, least: lines.length, good: lines.length, most: lines.length, lines: () => lines };
}

/** Gives each section its least lines by rank, then the lines that it wants, then the rest. */
function filled(all: readonly Section[], rows: number): string[] {
  const gap = rows >= ROOMY ? 1 : 0;
  let room = rows + gap;
  const given = new Map<Section, number>();
  const byRank = [...all].sort((a, b) => a.rank - b.rank);
  const grow = (section: Section, to: number): void => {
    const has = given.get(section) ?? 0;
    const more = Math.min(room, to - has);
    given.set(section, has + more);
    room -= more;
  };
  const [first, further] = [byRank.filter(({ rank }) => rank < FURTHER), byRank.filter(({ rank }) => rank >= FURTHER)];
  const add = (section: Section): void => {
    if (section.rank > 1 && section.least + gap > room) return;
    given.set(section, section.least);
    room -= section.least + gap;
  };
  for (const section of first) add(section);
  for (const section of given.keys()) grow(section, Math.max(section.good, section.least));
  for (const section of further) add(section);
  for (const section of given.keys()) grow(section, section.most);
  const parts = all.flatMap((section) => {
    const lines = given.get(section);
    return lines === undefined ? [] : [section.lines(lines)];
  });
  return (gap === 1 ? sections(...parts) : parts.flat()).slice(0, rows);
}

/** Sections from this rank on have room only if the others have all that they want. */
const FURTHER = 6;

/** The numbers in one line, if it has room for them. */
function briefNumbers(snapshot: Snapshot, options: RenderOptions): string[] {
  const lines = numberLines(snapshot, options, { brief: true });
  const line = lines.map((each) => each.replace(/ {2,}/g, '  ')).join('   ');
  return widthOf(line) <= options.width ? [line] : lines;
}

function poolLines(snapshot: Snapshot, options: RenderOptions, rows: number): string[] {
  const legend = rows < TALL ? legendLine(snapshot, options) : legendLines(snapshot, options);
  return [...barLines(snapshot, options), ...legend];
}

/** A graph with fewer rows of dots does not tell a fall from noise; a graph above the higher number says no more. */
const GOOD_GRAPH = 10;
const MOST_GRAPH = 24;

function graphSection({ graph, history }: WatchView, options: RenderOptions): Section {
  return {
    ...{ rank: 3, least: LEAST_GRAPH, good: GOOD_GRAPH, most: MOST_GRAPH },
    lines: (rows) => graphLines(history, { ...graph, rows }, options),
  };
}

const GOOD_LIST = 10;

function processSection({ list, processes }: WatchView, options: RenderOptions): Section {
  if (processes === null || typeof processes === 'string')
    return whole(4, [
      `${options.paint('heading', 'WHO HOLDS MEMORY')}  ${processes === null ? 'is being read' : truncate(`not known: ${clean(processes)}`, options.width - 18)}`,
    ]);
  const entries = entriesOf(processes, list);
  return {
    ...{ rank: 4, least: LEAST_ROWS, good: GOOD_LIST, most: rowsOfList(processes, entries, list) },
    lines: (rows) => processLines(processes, entries, list, options, rows),
  };
}

/** Sections of `snapshot --full`, shown by the key f. */
function countersOf({ snapshot }: WatchView, options: RenderOptions): Section[] {
  return [
    whole(4, headerLines(snapshot, options)),
    whole(2, [poolBar(snapshot.ledger, options), ...ledgerTable(snapshot, options)]),
    whole(7, toolsTable(snapshot, options)),
    whole(6, healthLines(snapshot, options)),
    whole(5, processTable(snapshot, options)),
  ];
}

function furtherOf(snapshot: Snapshot, options: RenderOptions): Section[] {
  return [whole(6, healthLines(snapshot, options)), whole(7, toolsTable(snapshot, options))];
}

/** One reading as one line, for a log. */
export function readingLine(snapshot: Snapshot, options: RenderOptions): string {
  const { immediate, afterReclaim } = headroom(snapshot);
  const { because, level, safe } = snapshot.judgement;
  const psi = snapshot.pressure;
  const percent = (value: number | undefined): string => (value === undefined ? 'unknown' : `${value.toFixed(1)} %`);
  const size = (bytes: number | null): string => padStart(amount(bytes, options), 10);
  const parts = [
    snapshot.at,
    snapshot.simulated === null ? null : `SIMULATED ${clean(snapshot.simulated)}`,
    `safe ${size(safe.bytes)}`,
    `free ${size(immediate)}`,
    `available ${size(afterReclaim)}`,
    `GPU ${padStart(gpuText(snapshot, options), 10)}`,
    `pressure some ${percent(psi?.some.avg10)} full ${percent(psi?.full.avg10)}`,
    level === 'ok' ? 'ok' : `${level}: ${because}`,
  ];
  return parts.filter((part) => part !== null).join('  ');
}

/** Held by GPU processes: of the shared pool on a unified machine, else of the GPUs' own memory. */
function gpuText({ ledger, devices }: Snapshot, options: RenderOptions): string {
  const entry = ledger.entries.find(({ label }) => label === 'gpuProcesses');
  if (entry !== undefined) return bounded(entry.bound, amount(entry.bytes, options));
  const own = devices.filter(({ memoryModel }) => memoryModel !== 'unified');
  const listed = own.flatMap(({ processes }) => processes ?? []);
  if (own.length === 0 || own.every(({ processes }) => processes === null)) return UNKNOWN;
  const sum = listed.reduce((bytes, { gpuBytes }) => bytes + (gpuBytes ?? 0), 0);
  const complete = own.every(({ processesComplete }) => processesComplete === true);
  return bounded(complete ? undefined : 'atLeast', amount(sum, options));
}

function bounded(bound: LedgerEntry['bound'], text: string): string {
  return bound === undefined ? text : `${bound === 'atMost' ? 'at most' : 'at least'} ${text}`;
}
