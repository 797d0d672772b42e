/** The one pool: a bar of all of MemTotal, and the ledger under it as its legend. */

import { clean, formatBoth, formatCount, inGB, inGiB, share, UNKNOWN } from '../../base/format.ts';
import { cmaPhantom } from '../../memory/allocatable.ts';
import { unifiedDevice } from '../../memory/headroom.ts';
import type { Allocatable, DeviceSnapshot, HostMemory, Ledger, LedgerLabel, Snapshot } from '../../types/index.ts';
import { amount, type RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { type Column, padEnd, table, truncate } from '../text-layout.ts';

interface Row {
  name: string;
  labels: readonly LedgerLabel[];
}

interface Group {
  /** Stands in the bar and before the rows, so that the bar reads without colour. */
  letter: string;
  style: Style;
  rows: readonly Row[];
}

/** In the order of the bar: what holds memory hardest stands left, what is free right. */
const GROUPS: readonly Group[] = [
  {
    letter: 'G',
    style: 'gpu',
    rows: [
      { name: 'GPU memory of processes', labels: ['gpuProcesses'] },
      { name: 'GPU memory kept by the driver', labels: ['driverPools'] },
    ],
  },
  { letter: '?', style: 'unattributed', rows: [{ name: 'unattributed', labels: ['unattributed'] }] },
  { letter: 'A', style: 'anonymous', rows: [{ name: 'programs (anonymous)', labels: ['anonymous', 'swapCache'] }] },
  { letter: 'S', style: 'shared', rows: [{ name: 'shared memory, tmpfs', labels: ['shmem'] }] },
  { letter: 'H', style: 'huge', rows: [{ name: 'huge pages, reserved', labels: ['hugePages'] }] },
  {
    letter: 'K',
    style: 'kernel',
    rows: [
      {
        name: 'kernel',
        labels: ['slabUnreclaimable', 'kernelStack', 'pageTables', 'percpu', 'zswap', 'hardwareCorrupted'],
      },
      { name: 'kernel, reclaimable', labels: ['kernelReclaimable'] },
    ],
  },
  { letter: 'C', style: 'cache', rows: [{ name: 'page cache, buffers', labels: ['pageCache', 'buffers'] }] },
  { letter: '.', style: 'free', rows: [{ name: 'free', labels: ['free'] }] },
];

/** Cells by largest remainder: each group's share is right to one cell, and together they fill the bar. */
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

function bytesOf(labels: readonly LedgerLabel[], { entries }: Ledger): number {
  return entries.filter(({ label }) => labels.includes(label)).reduce((sum, { bytes }) => sum + bytes, 0);
}

function labelsOf({ rows }: Group): LedgerLabel[] {
  return rows.flatMap(({ labels }) => labels);
}

/**
 * "[GGGGAACCCC........]". In colour the cells are filled and only the first of a group carries its letter; without
 * colour the letter fills them.
 */
export function poolBar(ledger: Ledger, options: RenderOptions): string {
  const width = options.width - 2;
  const counts = cells(
    GROUPS.map((group) => bytesOf(labelsOf(group), ledger)),
    width,
  );
  const segments = GROUPS.map((group, index) => {
    const count = counts[index] ?? 0;
    if (count === 0) return '';
    const plain = options.paint.depth === 0 || group.letter === '.';
    const dotted = options.unicode ? '·' : '.';
    const letter = group.letter === '.' ? dotted : group.letter;
    return options.paint.fill(group.style, plain ? letter.repeat(count) : padEnd(letter, count));
  });
  return `[${segments.join('')}]`;
}

/** The ledger as the legend of the bar, and the total that its lines sum to. Lines of 0 are left out. */
export function ledgerTable(snapshot: Snapshot, options: RenderOptions): string[] {
  const { ledger } = snapshot;
  const rows = GROUPS.flatMap((group) =>
    group.rows
      .map(({ name, labels }) => [name, bytesOf(labels, ledger)] as const)
      .filter(([, bytes]) => bytes !== 0)
      .map(([name, bytes]) =>
        cellsOf(
          mark(group, options),
          name === 'unattributed' ? remainder(snapshot, bytes) : name,
          bytes,
          ledger.total,
          options,
        ),
      ),
  );
  const total = cellsOf(' ', 'total (MemTotal)', ledger.total, ledger.total, options).map((cell) =>
    options.paint('strong', cell),
  );
  return table(columns(options), [headings(options), ...rows, total], options.width);
}

/** What the remainder most likely is: nothing counts it, so words are all there is. */
function remainder(snapshot: Snapshot, bytes: number): string {
  if (bytes < 0) return 'counted twice by the kernel';
  const device = unifiedDevice(snapshot);
  if (device === undefined) return 'unattributed (drivers, kernel)';
  if (device.processes === null) return 'unattributed (GPU memory and driver)';
  const { systemMemoryPools, poolBytes } = snapshot.driver;
  const pools = systemMemoryPools !== null && systemMemoryPools !== 0 && poolBytes === null;
  return pools ? 'unattributed (driver and its pools)' : 'unattributed (driver, kernel)';
}

/** "119.69 GiB (128.52 GB)". */
export function totalWords(ledger: Ledger, options: RenderOptions): string {
  return options.exact ? `${formatCount(ledger.total)} B` : formatBoth(ledger.total);
}

function mark(group: Group, options: RenderOptions): string {
  const letter = group.letter === '.' && options.unicode ? '·' : group.letter;
  return options.paint.fill(group.style, letter);
}

function headings({ exact, paint }: RenderOptions): string[] {
  const words = exact ? ['', '', 'bytes', '%'] : ['', '', 'GiB', 'GB', '%'];
  return words.map((word) => paint('dim', word));
}

function columns({ exact }: RenderOptions): Column[] {
  const numbers: Column[] = exact
    ? [{ align: 'right' }, { align: 'right' }]
    : [{ align: 'right' }, { align: 'right' }, { align: 'right' }];
  return [{ align: 'left' }, { align: 'left' }, ...numbers];
}

function cellsOf(letter: string, name: string, bytes: number, total: number, { exact }: RenderOptions): string[] {
  const numbers = exact ? [formatCount(bytes)] : [inGiB(bytes), inGB(bytes)];
  return [letter, name, ...numbers, share(bytes, total)];
}

export function answers(snapshot: Snapshot, options: RenderOptions): string[] {
  const { devices, host } = snapshot;
  if (devices.length === 0) {
    return pair(
      { immediate: host.free, afterReclaim: host.available },
      [NOW, 'for programs; there is no GPU'],
      options,
    );
  }
  return devices.flatMap((device) => {
    const lines = pair(device.allocatable, meanings(device, host, options), options);
    return devices.length === 1
      ? lines
      : [options.paint('dim', truncate(`GPU ${device.index} ${clean(device.name ?? '')}`, options.width)), ...lines];
  });
}

const NOW = 'nobody has to give anything back';

/** What the two numbers mean on this kind of device. */
function meanings({ memoryModel }: DeviceSnapshot, host: HostMemory, options: RenderOptions): [string, string] {
  if (memoryModel === 'coherent') return [NOW, "page cache on the GPU's node is not counted"];
  if (memoryModel === 'unknown')
    return ['as far as the libraries tell', "whether the GPU shares the host's memory is not known"];
  if (memoryModel !== 'unified') return [NOW, 'the same: this GPU has no page cache'];
  const phantom = cmaPhantom(host);
  return [
    phantom === 0 ? NOW : `without ${amount(phantom, options)} that cannot be pinned`,
    'with clean page cache given back',
  ];
}

function pair(
  { immediate, afterReclaim }: Allocatable,
  [now, reclaim]: [string, string],
  options: RenderOptions,
): string[] {
  const row = (name: string, bytes: number | null, means: string): string[] => [
    options.paint('strong', name),
    options.paint('strong', bytes === null ? UNKNOWN : options.exact ? amount(bytes, options) : `${inGiB(bytes)} GiB`),
    bytes === null || options.exact ? '' : `${inGB(bytes)} GB`,
    means,
  ];
  return table(
    [{ align: 'left' }, { align: 'right' }, { align: 'right' }, { align: 'left', flexible: true }],
    [row('FREE RIGHT NOW', immediate, now), row('AFTER RECLAIM', afterReclaim, reclaim)],
    options.width,
  );
}
