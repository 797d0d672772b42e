/** The pages of watch: the live picture on a terminal, and a line for each reading elsewhere. */
import { clean, formatPercent, UNKNOWN } from '../../base/format.ts';
import { headroom } from '../../memory/headroom.ts';
import { STALLED_PERCENT } from '../../memory/pressure.ts';
import type { LedgerEntry, Snapshot } from '../../types/index.ts';
import { amount, type RenderOptions } from '../options.ts';
import { padEnd, padStart } from '../text-layout.ts';
import { sections } from './frame.ts';
import { bandLines, ownMemoryLines } from './snapshot.ts';
import { numberLines } from './snapshot-answer.ts';
import { barLines, legendLines } from './snapshot-bar.ts';
import { processTable } from './snapshot-devices.ts';
import { answerLines, headerLines, sentenceLines, verdictLines } from './snapshot-header.ts';
import { ledgerTable, poolBar } from './snapshot-memory.ts';
import { healthLines } from './snapshot-pressure.ts';
import { toolsTable } from './snapshot-tools.ts';

interface RankedSection {
  /** Of two sections the one with the lower rank gets the room. */
  rank: number;
  lines: string[];
}

/** From this many rows on, sections stand apart; below the lower number only the answer and its numbers are shown. */
const ROOMY = 16;
const BRIEF = 12;

/**
 * The live picture: as many whole sections as fit into `rows` lines. The verdict and its numbers stay longest, and are cut
 * only where the screen has fewer rows than they have lines.
 */
export function watchPage(
  snapshot: Snapshot,
  history: string[],
  options: RenderOptions,
  rows: number,
  { full = false } = {},
): string[] {
  if (rows < BRIEF)
    return [
      ...bandLines(snapshot, options),
      ...answerLines(snapshot, options),
      ...numberLines(snapshot, options, { brief: true }),
      ...sentenceLines(snapshot, options),
    ].slice(0, rows);
  const more: RankedSection[] = full
    ? [
        { rank: 4, lines: headerLines(snapshot, options) },
        { rank: 3, lines: ledgerTable(snapshot, options) },
        { rank: 7, lines: toolsTable(snapshot, options) },
        { rank: 5, lines: processTable(snapshot, options) },
        { rank: 6, lines: healthLines(snapshot, options) },
      ]
    : [
        { rank: 3, lines: legendLines(snapshot, options) },
        { rank: 5, lines: processTable(snapshot, options) },
        { rank: 6, lines: toolsTable(snapshot, options) },
        { rank: 7, lines: healthLines(snapshot, options) },
        { rank: 8, lines: ledgerTable(snapshot, options) },
      ];
  const [first, ...details] = more;
  const ranked: RankedSection[] = [
    { rank: 0, lines: [...bandLines(snapshot, options), ...verdictLines(snapshot, options)] },
    { rank: 1, lines: numberLines(snapshot, options) },
    { rank: 2, lines: ownMemoryLines(snapshot, options) },
    { rank: 2, lines: full ? [poolBar(snapshot.ledger, options)] : barLines(snapshot, options) },
    ...(first === undefined ? [] : [first]),
    { rank: 4, lines: history },
    ...details,
  ].filter(({ lines }) => lines.length > 0);
  const gap = rows >= ROOMY ? 1 : 0;
  let room = rows + gap;
  const shown = new Set<RankedSection>();
  for (const section of [...ranked].sort((a, b) => a.rank - b.rank)) {
    const height = section.lines.length + gap;
    if (section.rank > 1 && height > room) continue;
    shown.add(section);
    room -= height;
  }
  const parts = ranked.filter((section) => shown.has(section)).map(({ lines }) => lines);
  return (gap === 1 ? sections(...parts) : parts.flat()).slice(0, rows);
}

/** Readings kept: a cell each on the widest terminal. */
const HISTORY_LENGTH = 160;
const LABEL_WIDTH = 15;

export interface History {
  add(snapshot: Snapshot): void;
  /** Sparklines of what is allocatable and of memory pressure; [] until there are two readings. */
  lines(options: RenderOptions): string[];
}

export function createHistory(): History {
  const available: (number | null)[] = [];
  const stalled: (number | null)[] = [];
  let total = 0;
  return {
    add(snapshot) {
      available.push(snapshot.judgement.safe.bytes);
      stalled.push(snapshot.pressure?.full.avg10 ?? null);
      total = snapshot.ledger.total;
      for (const values of [available, stalled]) if (values.length > HISTORY_LENGTH) values.shift();
    },
    lines(options) {
      if (available.length < 2) return [];
      const known = available.filter((value) => value !== null);
      const lowest = known.length === 0 ? null : Math.min(...known);
      const cells = options.width - LABEL_WIDTH - 26;
      const line = (label: string, values: (number | null)[], top: number, text: string): string => {
        const marks = padEnd(sparkline(values.slice(-cells), top, options.unicode), cells);
        return `${padEnd(label, LABEL_WIDTH)}${options.paint('notice', marks)}  ${text}`;
      };
      return [
        line('Can be loaded', available, total, `lowest ${amount(lowest, options)}`),
        // Full scale is the alarm: on a smaller scale noise would look like trouble.
        line('Stalled', stalled, STALLED_PERCENT, `now ${formatPercent(stalled.at(-1) ?? null)}`),
      ];
    },
  };
}

/** One mark a value, from empty at 0 to full at `top` and above; a space where the value is unknown. */
export function sparkline(values: readonly (number | null)[], top: number, unicode: boolean): string {
  const marks = unicode ? '▁▂▃▄▅▆▇█' : '_.-~=+*#';
  return values
    .map((value) => {
      if (value === null) return ' ';
      const step = Math.floor((value / top) * marks.length);
      return marks[Math.min(marks.length - 1, Math.max(0, step))] ?? ' ';
    })
    .join('');
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
