/** Results of actions on the page cache: a page each for evict, drop, compact and reclaim. */
import {
  capitalized,
  clean,
  fileCount,
  formatBoth,
  formatBytes,
  formatCount,
  formatDuration,
} from '../../../base/format.ts';
import { formatBlockSize } from '../../../core/memory/contiguity.ts';
import { WHO_ASKS_FREE } from '../../../core/memory/remedies.ts';
import type {
  CompactReport,
  DropReport,
  EvictReport,
  Receipt,
  ReceiptCounters,
  ReclaimReport,
} from '../../../types/index.ts';
import type { RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { hanging } from '../text-layout.ts';
import { problemLines } from './cache-status.ts';
import { headedTable, labelled, sections, simulatedBand } from './frame.ts';

const RETAINED_LABELS: Readonly<Record<keyof EvictReport['stayedBy'], string>> = {
  mapped: 'mapped',
  dirty: 'dirty',
  locked: 'locked',
  memory: 'on tmpfs',
  other: 'in use',
};

export function evictPage(report: EvictReport, options: RenderOptions): string[] {
  const { paint } = options;
  const writing = report.syncMs > 0 ? `, including ${formatDuration(report.syncMs)} of writing` : '';
  return sections(evictedLines(report, options), receiptLines(report.receipt, options), [
    paint('dim', `took ${formatDuration(report.durationMs)}${writing}`),
  ]);
}

function evictedLines(report: EvictReport, options: RenderOptions): string[] {
  const { width, paint } = options;
  const { evictedBytes, stayedBytes, stayedBy, unseenFiles } = report;
  const lines =
    evictedBytes === null
      ? labelled(
          'UNKNOWN',
          'notice',
          'How much was or is cached is not visible to you; eviction was requested.',
          options,
        )
      : labelled(
          evictedBytes === 0 ? 'NOTHING' : 'EVICTED',
          stayedBytes === 0 ? 'ok' : 'notice',
          `${formatBoth(evictedBytes)} left the cache, ${formatBoth(stayedBytes)} are still cached.`,
          options,
        );
  const reasons = (Object.keys(stayedBy) as (keyof typeof stayedBy)[])
    .filter((reason) => stayedBy[reason] > 0)
    .map((reason) => `${RETAINED_LABELS[reason]} ${formatBytes(stayedBy[reason])}`);
  if (reasons.length > 0) lines.push(`still cached: ${reasons.join(', ')}`);
  if (unseenFiles > 0) {
    const files = `${fileCount(unseenFiles)} of other users`;
    lines.push(...hanging('', `${files}: eviction was requested, but the kernel does not show the result`, width));
  }
  if (report.state === 'aborted') lines.push(paint('warning', 'interrupted: what was evicted by then stays evicted'));
  for (const { path, stayed, cachedAfter } of report.files) {
    if (stayed !== null)
      lines.push(...hanging(`  ${formatBytes(cachedAfter)}  `, `${clean(path)}: ${clean(stayed)}`, width));
  }
  return [...lines, ...report.targets.flatMap((target) => problemLines(target, width))];
}

export function dropPage(report: DropReport, options: RenderOptions): string[] {
  const { dryRun, level, meaning, receipt, simulated } = report;
  return sections(
    [...simulatedBand(simulated, options), ...answerLines(report, options)],
    hanging(`level ${level}  `, meaning, options.width),
    dryRun ? [] : receiptLines(receipt, options),
    [...gainLines(report, options), ...timeLines(report, options)],
  );
}

/** What became free, and what did not change. */
function answerLines({ dryRun, expectedBytes, receipt }: DropReport, options: RenderOptions): string[] {
  if (dryRun) {
    const sentence = `About ${formatBoth(expectedBytes)} would become free. Nothing was changed.`;
    return labelled('PLAN', 'notice', sentence, options);
  }
  const { cudaFree, freeInCpuLists, memAvailable, memFree } = receipt.change;
  if (memFree === null) return labelled('DONE', 'notice', 'How much became free is not known.', options);
  const freed = memFree + (freeInCpuLists ?? 0);
  if (freed <= 0) return labelled('NOTHING', 'notice', 'No memory became free.', options);
  return labelled(
    'FREED',
    'ok',
    `${formatBoth(freed)} became free. ${availableChange(freed, memAvailable, cudaFree !== null)}`,
    options,
  );
}

/** A change of MemAvailable below this share of what became free is none: other programs go on meanwhile. */
const UNCHANGED_SHARE = 0.05;

function availableChange(freed: number, available: number | null, isUnified: boolean): string {
  if (available === null) return 'How MemAvailable changed is not known.';
  if (available > freed * UNCHANGED_SHARE)
    return `MemAvailable rose by ${formatBytes(available)}: every program can use that.`;
  if (available < -freed * UNCHANGED_SHARE)
    return `MemAvailable fell by ${formatBytes(-available)}: programs took memory meanwhile.`;
  const forWhom = isUnified ? `; ${WHO_ASKS_FREE} see more now` : '';
  return `MemAvailable did not change: the kernel gives page cache to any program that needs it${forWhom}.`;
}

function timeLines({ by, dropMs, durationMs, sync }: DropReport, { paint }: RenderOptions): string[] {
  const synced =
    sync === null ? 'no sync' : `sync ${formatDuration(sync.durationMs)}${sync.finished ? '' : ' (not finished)'}`;
  const dropped = dropMs === null ? [] : [synced, `drop ${formatDuration(dropMs)}${by === 'sudo' ? ' with sudo' : ''}`];
  return [paint('dim', [...dropped, `total ${formatDuration(durationMs)}`].join(', '))];
}

/** Gain of the drop for programs, and warnings. */
function gainLines({ nextAllocation, receipt, warnings }: DropReport, options: RenderOptions): string[] {
  const lines: string[] = [];
  if (nextAllocation !== null) {
    const gain = `${signed(nextAllocation.immediate)} at once, ${signed(nextAllocation.afterReclaim)} once files in cache are given back`;
    lines.push(...hanging('allocatable on the GPU  ', gain, options.width));
  }
  const pools = receipt.change.driverPools ?? 0;
  if (pools < 0) {
    const sentence =
      'returned from the driver’s pools to the kernel: only CUDA programs could use it before; now any program can, and checks before a start count it';
    lines.push(...hanging(`${formatBytes(-pools)} `, sentence, options.width));
  }
  return [...lines, ...warnings.flatMap((warning) => labelled('WARNING', 'warning', clean(warning), options))];
}

const VERDICT_STYLES: Readonly<Record<CompactReport['verdict'], Style>> = {
  ok: 'ok',
  compacted: 'ok',
  'not-ready': 'warning',
  'reboot-required': 'danger',
};

export function compactPage(report: CompactReport, options: RenderOptions): string[] {
  const { compactMs, reason, simulated, verdict } = report;
  const took = compactMs === null ? 'nothing was done' : `compaction took ${formatDuration(compactMs)}`;
  return sections(
    [
      ...simulatedBand(simulated, options),
      ...labelled(verdict.toUpperCase().replace('-', ' '), VERDICT_STYLES[verdict], capitalized(reason), options),
    ],
    ordersTable(report, options),
    [options.paint('dim', report.by === 'sudo' ? `${took}, with sudo` : took)],
  );
}

/** Free blocks of each order, before and after. */
function ordersTable({ orders }: CompactReport, { cut, paint }: RenderOptions): string[] {
  const rows = orders.map(({ order, blockBytes, before, after }) => [
    String(order),
    formatBlockSize(blockBytes),
    formatCount(before),
    formatCount(after),
  ]);
  return headedTable(
    ['right', 'right', 'right', 'right'],
    [['order', 'block', 'before', 'after'], ...rows],
    cut,
    paint,
  );
}

export function reclaimPage(report: ReclaimReport, options: RenderOptions): string[] {
  const { bytes, cgroup, gotBytes, short, simulated } = report;
  const [label, style] = gotBytes === 0 ? (['NOTHING', 'notice'] as const) : (['RECLAIMED', 'ok'] as const);
  const sentence = `${formatBoth(gotBytes)} of ${formatBoth(bytes)} came back from ${clean(cgroup)}${short ? ': the kernel found no more' : ''}.`;
  return sections(
    [...simulatedBand(simulated, options), ...labelled(label, style, sentence, options)],
    receiptLines(report.receipt, options),
    [options.paint('dim', `took ${formatDuration(report.durationMs)}`)],
  );
}

const COUNTER_LABELS: Readonly<Record<keyof ReceiptCounters, string>> = {
  memFree: 'MemFree',
  freeInCpuLists: 'free in processors’ lists',
  memAvailable: 'MemAvailable',
  cached: 'Cached',
  sReclaimable: 'SReclaimable',
  dirty: 'Dirty',
  driverPools: 'driver pools',
  cudaFree: 'CUDA free',
};

/**
 * Counters before and after. Unknown ones are left out here; --json has them with the reason. If the lists of the
 * processors have pages, the first row is all free memory: freed pages go there first, and MemFree may stay as it was.
 */
function receiptLines({ before, after, change }: Receipt, { cut, paint }: RenderOptions): string[] {
  const hasLists = (before.freeInCpuLists ?? 0) + (after.freeInCpuLists ?? 0) > 0;
  const names = (Object.keys(COUNTER_LABELS) as (keyof ReceiptCounters)[]).filter(
    (name) => (before[name] !== null || after[name] !== null) && (name !== 'freeInCpuLists' || hasLists),
  );
  const allFree = ({ freeInCpuLists, memFree }: ReceiptCounters) =>
    memFree === null || freeInCpuLists === null ? null : memFree + freeInCpuLists;
  const row = (label: string, value: (counters: ReceiptCounters) => number | null) => [
    label,
    formatBytes(value(before)),
    formatBytes(value(after)),
    signed(value(change)),
  ];
  const rows = [
    ...(hasLists ? [row('free', allFree)] : []),
    ...names.map((name) => row(COUNTER_LABELS[name], (counters) => counters[name])),
  ];
  return headedTable(['left', 'right', 'right', 'right'], [['', 'before', 'after', 'change'], ...rows], cut, paint);
}

/** "+1.2 GiB": without its sign a change would be read as an amount. */
export function signed(bytes: number | null): string {
  return bytes !== null && bytes > 0 ? `+${formatBytes(bytes)}` : formatBytes(bytes);
}
