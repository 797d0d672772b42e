/** Texts of a comparison, for the terminal and for the page. */
import { formatBytes, formatCount, formatDuration, formatPercent, UNKNOWN } from '../../base/format.ts';
import type { ComparedRow, ComparedSide, CompareReport } from '../../types/index.ts';
import { moved, sizeText } from './numbers.ts';
import { LEVELS } from './text/snapshot-header.ts';
import { ledgerName } from './text/snapshot-memory.ts';

const TITLES: Readonly<Record<string, string>> = {
  programs: 'Who holds more or less',
  memory: 'Where the memory is',
  steps: 'Sizes',
  settings: 'Settings',
};

export function sectionTitle({ kind }: CompareReport, section: string): string {
  if (section === 'programs' && kind === 'record') return 'The most that a program held';
  return section === 'answer' ? 'The answer' : (TITLES[section] ?? section);
}

/** Sections in the order of the report, each with its rows. */
export function sectionsOf({ rows }: CompareReport): [section: string, rows: ComparedRow[]][] {
  return [...new Set(rows.map(({ section }) => section))].map((section) => [
    section,
    rows.filter((row) => row.section === section),
  ]);
}

export function nameText({ name, section }: ComparedRow): string {
  if (section === 'memory') return ledgerName(name);
  return section === 'steps' ? name.replace(/\d+(?=, )/, (bytes) => sizeText(Number(bytes))) : name;
}

export function valueText(value: ComparedRow['a'], unit: ComparedRow['unit']): string {
  if (value === null) return UNKNOWN;
  if (typeof value === 'string') return value;
  switch (unit) {
    case 'bytes':
      return formatBytes(value);
    case 'bytesPerSecond':
      return `${formatBytes(value)}/s`;
    case 'gbPerSecond':
      return `${value.toFixed(value < 100 ? 1 : 0)} GB/s`;
    case 'ms':
      return formatDuration(value);
    case 'percent':
      return formatPercent(value);
    default:
      return formatCount(value);
  }
}

/** "+70.0 GiB", "×1.25"; '': a text, or one of the two is unknown. */
export function changeText({ a, b, change, unit }: ComparedRow, unicode: boolean): string {
  if (change === null) return '';
  if (unit === 'bytes') return moved(change, unicode);
  const times = unicode ? '×' : 'x';
  if (unit !== 'percent' && unit !== 'count' && typeof a === 'number' && typeof b === 'number' && a > 0)
    return `${times}${(b / a).toFixed(2)}`;
  const sign = change > 0 ? '+' : unicode ? '−' : '-';
  return `${sign}${valueText(Math.abs(change), unit)}`;
}

/** "2026-11-22 09:09:54 UTC", the GPU, and the simulated machine. */
export function sideText({ at, device, simulated }: ComparedSide): string {
  const parts = [
    `${at.slice(0, 19).replace('T', ' ')} UTC`,
    device,
    simulated === null ? null : `simulated ${simulated}`,
  ];
  return parts.filter((part) => part !== null).join(', ');
}

/** "NOTE: 27.4 GiB can be loaded on the GPU. …" */
export function verdictText({ level, text }: NonNullable<ComparedSide['verdict']>): string {
  return level === null ? text : `${LEVELS[level][0]}: ${text}`;
}

/** The machines of which no number comes from hardware; null: both are real. */
export function simulatedText({ a, b }: CompareReport): string | null {
  if (a.simulated !== null && b.simulated !== null)
    return a.simulated === b.simulated ? a.simulated : `${a.simulated} and ${b.simulated}`;
  return null;
}

/** Text if only one of the two is simulated. */
export function mixedText({ a, b }: CompareReport): string | null {
  if ((a.simulated === null) === (b.simulated === null)) return null;
  const [side, name] = a.simulated === null ? ['B', b.simulated] : ['A', a.simulated];
  return `${side} is of the simulated machine ${name}: its numbers come from no hardware.`;
}

export function sameText({ rows, same }: CompareReport): string {
  if (rows.length === 0) return 'Nothing differs.';
  return `${formatCount(same)} ${same === 1 ? 'number is' : 'numbers are'} the same in both.`;
}
