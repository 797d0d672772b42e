/** The memory of a snapshot: a bar of MemTotal, and the ledger as its legend. */
import { formatBoth, formatCount, inGB, inGiB, share } from '../../../base/format.ts';
import { hasUnknownPools, unifiedDevice, unknownGpuMemory } from '../../../core/memory/headroom.ts';
import type { Ledger, LedgerLabel, Snapshot } from '../../../types/index.ts';
import type { RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { type Column, padEnd, table } from '../text-layout.ts';

export interface LedgerRow {
  name: string;
  labels: readonly LedgerLabel[];
}

interface BarPart {
  /** Marks the bar and the rows, so that the bar can be read without colour. */
  letter: string;
  style: Style;
}

export interface Group extends BarPart {
  rows: readonly LedgerRow[];
}

/** Groups in the order of the bar: from memory that is hardest to free, on the left, to free memory. */
const GROUPS: readonly Group[] = [
  { letter: 'G', style: 'gpu', rows: [{ name: 'GPU memory of processes', labels: ['gpuProcesses'] }] },
  { letter: 'D', style: 'unattributed', rows: [{ name: 'GPU memory kept by the driver', labels: ['driverPools'] }] },
  { letter: '?', style: 'unattributed', rows: [{ name: 'unattributed', labels: ['unattributed'] }] },
  {
    letter: 'P',
    style: 'anonymous',
    rows: [
      { name: 'programs', labels: ['anonymous', 'swapCache'] },
      { name: 'programs, swapped to zram', labels: ['zram'] },
    ],
  },
  { letter: 'T', style: 'shared', rows: [{ name: 'shared memory, tmpfs', labels: ['shmem'] }] },
  { letter: 'H', style: 'huge', rows: [{ name: 'huge pages, reserved', labels: ['hugePages'] }] },
  {
    letter: 'K',
    style: 'kernel',
    rows: [
      {
        name: 'kernel',
        labels: ['slabUnreclaimable', 'kernelStack', 'pageTables', 'percpu', 'zswap', 'hardwareCorrupted'],
      },
      { name: 'kernel, can be given back', labels: ['kernelReclaimable'] },
    ],
  },
  { letter: 'C', style: 'cache', rows: [{ name: 'files in cache (page cache)', labels: ['pageCache', 'buffers'] }] },
  {
    letter: '.',
    style: 'free',
    rows: [
      { name: 'free', labels: ['free'] },
      { name: 'free, in lists of the processors', labels: ['freeInCpuLists'] },
    ],
  },
];

/**
 * "[GGGGAACCCC........]". Coloured cells are filled, and the first of each group carries its letter; the letter fills
 * them all without colour.
 */
export function poolBar(ledger: Ledger, options: RenderOptions, groups: readonly Group[] = GROUPS): string {
  const parts = groups.map((group) => ({ ...group, bytes: bytesOf(labelsOf(group), ledger) }));
  return barOf(parts, options);
}

/** The same of any parts. */
export function barOf(parts: readonly (BarPart & { bytes: number })[], options: RenderOptions): string {
  const { paint, width } = options;
  const amounts = parts.map(({ bytes }) => bytes);
  const counts = cells(amounts, width - 2);
  const segments = parts.map((part, index) => {
    const count = counts[index] ?? 0;
    if (count === 0) return '';
    const letter = letterOf(part, options);
    const filled = paint.fill(part.style, letter) !== paint(part.style, letter);
    return paint.fill(part.style, filled ? padEnd(letter, count) : letter.repeat(count));
  });
  return `[${segments.join('')}]`;
}

function letterOf({ letter }: BarPart, { unicode }: RenderOptions): string {
  return letter === '.' && unicode ? '·' : letter;
}

/** Cells of each amount, by largest remainder: every share is right to one cell, and together they fill the bar. */
export function cells(amounts: readonly number[], width: number): number[] {
  const positive = amounts.map((bytes) => Math.max(0, bytes));
  const whole = positive.reduce((sum, bytes) => sum + bytes, 0);
  if (whole === 0) return amounts.map(() => 0);
  const exact = positive.map((bytes) => (bytes / whole) * width);
  const counts = exact.map(Math.floor);
  const byRemainder = exact
    .map((value, index) => [value - Math.floor(value), index] as const)
    .sort((a, b) => b[0] - a[0]);
  const missing = width - counts.reduce((sum, count) => sum + count, 0);
  for (const [, index] of byRemainder.slice(0, missing)) counts[index] = (counts[index] ?? 0) + 1;
  return counts;
}

export function bytesOf(labels: readonly LedgerLabel[], { entries }: Ledger): number {
  return entries.filter(({ label }) => labels.includes(label)).reduce((sum, { bytes }) => sum + bytes, 0);
}

/** "programs", "files in cache (page cache)"; a text that is no label stays what it is. */
export function ledgerName(label: string): string {
  const rows = GROUPS.flatMap((group) => group.rows);
  return rows.find(({ labels }) => (labels as readonly string[]).includes(label))?.name ?? label;
}

export function labelsOf({ rows }: Group): LedgerLabel[] {
  return rows.flatMap(({ labels }) => labels);
}

/** The ledger as the legend of the bar, and the total of its lines. Lines of 0 are left out. */
export function ledgerTable(snapshot: Snapshot, options: RenderOptions): string[] {
  const { ledger } = snapshot;
  const rows = GROUPS.flatMap((group) =>
    group.rows
      .map(({ name, labels }) => ({ name, labels, bytes: bytesOf(labels, ledger) }))
      .filter(({ bytes }) => bytes !== 0)
      .map(({ name, labels, bytes }) => {
        const label = name === 'unattributed' ? unattributedLabel(snapshot, bytes) : boundedName(name, labels, ledger);
        return rowCells(mark(group, options), label, bytes, ledger.total, options);
      }),
  );
  const total = rowCells(' ', 'total (MemTotal)', ledger.total, ledger.total, options).map((cell) =>
    options.paint('strong', cell),
  );
  return table(columns(options), [headings(options), ...rows, total], options.cut);
}

function boundedName(name: string, labels: readonly LedgerLabel[], { entries }: Ledger): string {
  const bound = entries.find(({ label }) => labels.includes(label))?.bound;
  return bound === undefined ? name : `${name}, ${bound === 'atMost' ? 'at most' : 'at least'}`;
}

/** The likeliest content of the remainder. No counter says so. */
function unattributedLabel(snapshot: Snapshot, bytes: number): string {
  if (bytes < 0) return 'counted twice by the kernel';
  if (snapshot.ledger.notSplit.length > 0) return 'not attributed (see below)';
  const device = unifiedDevice(snapshot);
  if (device === undefined) return 'in no counter (drivers, kernel)';
  if (unknownGpuMemory(snapshot) !== null) return 'in no counter (GPU memory and driver)';
  const pools = hasUnknownPools(snapshot);
  return pools ? 'in no counter (driver and its pools)' : 'in no counter (driver, kernel)';
}

export function mark(part: BarPart, options: RenderOptions): string {
  return options.paint.fill(part.style, letterOf(part, options));
}

function headings({ exact, paint }: RenderOptions): string[] {
  const labels = exact ? ['', '', 'bytes', '%'] : ['', '', 'GiB', 'GB', '%'];
  return labels.map((label) => paint('dim', label));
}

function columns({ exact }: RenderOptions): Column[] {
  const numbers: Column[] = exact ? ['right', 'right'] : ['right', 'right', 'right'];
  return ['left', 'flexible', ...numbers];
}

function rowCells(letter: string, name: string, bytes: number, total: number, { exact }: RenderOptions): string[] {
  const numbers = exact ? [formatCount(bytes)] : [inGiB(bytes), inGB(bytes)];
  return [letter, name, ...numbers, share(bytes, total)];
}

/** "119.69 GiB (128.52 GB)". */
export function totalText(ledger: Ledger, options: RenderOptions): string {
  return options.exact ? `${formatCount(ledger.total)} B` : formatBoth(ledger.total);
}
