/** What an action on the cache did, drawn. */

import { clean, fileCount, formatBoth, formatBytes, formatCount, formatDuration } from '../../base/format.ts';
import { formatBlockSize } from '../../memory/contiguity.ts';
import type {
  CompactReport,
  DropReport,
  EvictReport,
  Receipt,
  ReceiptCounters,
  ReclaimReport,
} from '../../types/index.ts';
import type { RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { hanging, padEnd, table } from '../text-layout.ts';
import { problemLines, simulatedBand } from './cache-status.ts';

export function evictPage(report: EvictReport, options: RenderOptions): string {
  const { width, paint } = options;
  const { evictedBytes, stayedBytes, stayedBy, unseenFiles } = report;
  const lines = [paint('strong', `${formatBoth(evictedBytes)} left the cache, ${formatBoth(stayedBytes)} stayed`)];
  const reasons = Object.entries(stayedBy).filter(([, bytes]) => bytes > 0);
  if (reasons.length > 0)
    lines.push(
      `stayed: ${reasons.map(([why, bytes]) => `${WHY[why as keyof typeof WHY]} ${formatBytes(bytes)}`).join(', ')}`,
    );
  if (unseenFiles > 0)
    lines.push(
      ...hanging('', `${fileCount(unseenFiles)} of other users asked to go; what went the kernel does not show`, width),
    );
  if (report.state === 'aborted') lines.push(paint('warning', 'ended early: what had gone by then is gone'));
  for (const { path, stayed, cachedAfter } of report.files) {
    if (stayed !== null)
      lines.push(...hanging(`  ${formatBytes(cachedAfter)}  `, `${clean(path)}: ${clean(stayed)}`, width));
  }
  for (const target of report.targets) lines.push(...problemLines(target, width));
  const sync = report.syncMs > 0 ? `, of it ${formatDuration(report.syncMs)} writing` : '';
  lines.push(
    '',
    ...receiptLines(report.receipt, options),
    '',
    paint('dim', `took ${formatDuration(report.durationMs)}${sync}`),
  );
  return page(lines);
}

const WHY = { mapped: 'mapped', dirty: 'dirty', locked: 'locked', memory: 'on tmpfs', other: 'in use' } as const;

export function dropPage(report: DropReport, options: RenderOptions): string {
  const { width, paint } = options;
  const lines = simulatedBand(report.simulated, options);
  lines.push(...hanging(`level ${report.level}  `, report.meaning, width), '');
  lines.push(...receiptLines(report.receipt, options), '');
  const { nextAllocation, sync } = report;
  if (nextAllocation !== null) {
    const words = `${signed(nextAllocation.immediate)} at once, ${signed(nextAllocation.afterReclaim)} once the kernel has reclaimed`;
    lines.push(...hanging('the next GPU allocation can have  ', words, width));
  }
  const pools = report.receipt.change.driverPools ?? 0;
  if (pools < 0) {
    const words =
      'of the driver’s pools went back to the kernel: a CUDA program could have had it before, now every program can, and start checks see it';
    lines.push(...hanging(`${formatBytes(-pools)} `, words, width));
  }
  for (const warning of report.warnings) lines.push(...labelled('WARNING', 'warning', clean(warning), options));
  const synced =
    sync === null ? 'no sync' : `sync ${formatDuration(sync.durationMs)}${sync.finished ? '' : ' (not finished)'}`;
  const through = report.by === 'sudo' ? ' through sudo' : '';
  lines.push(
    paint(
      'dim',
      `${synced}, drop ${formatDuration(report.dropMs)}${through}, in all ${formatDuration(report.durationMs)}`,
    ),
  );
  return page(lines);
}

const VERDICTS: Readonly<Record<CompactReport['verdict'], Style>> = {
  ok: 'ok',
  compacted: 'ok',
  'not-ready': 'warning',
  'reboot-required': 'danger',
};

export function compactPage(report: CompactReport, options: RenderOptions): string {
  const { width, paint } = options;
  const lines = simulatedBand(report.simulated, options);
  const right = { align: 'right' } as const;
  const rows = report.orders.map(({ order, blockBytes, before, after }) => [
    String(order),
    formatBlockSize(blockBytes),
    formatCount(before),
    formatCount(after),
  ]);
  const [heading = '', ...more] = table(
    [right, right, right, right],
    [['order', 'block', 'before', 'after'], ...rows],
    width,
  );
  lines.push(paint('heading', heading), ...more, '');
  lines.push(...labelled(report.verdict, VERDICTS[report.verdict], report.reason, options));
  const took = report.compactMs === null ? 'nothing was done' : `compaction took ${formatDuration(report.compactMs)}`;
  lines.push(paint('dim', report.by === 'sudo' ? `${took}, through sudo` : took));
  return page(lines);
}

export function reclaimPage(report: ReclaimReport, options: RenderOptions): string {
  const { paint, width } = options;
  const { askedBytes, cgroup, gotBytes, short } = report;
  const less = short ? ': the kernel found no more' : '';
  return page([
    ...hanging('', `${clean(cgroup)}: ${formatBoth(gotBytes)} of ${formatBoth(askedBytes)}${less}`, width),
    '',
    ...receiptLines(report.receipt, options),
    '',
    paint('dim', `took ${formatDuration(report.durationMs)}`),
  ]);
}

/** A word in its colour and a sentence beside it. */
export function labelled(label: string, style: Style, text: string, { width, paint }: RenderOptions): string[] {
  const [first = '', ...more] = hanging(padEnd(label, label.length + 2), text, width);
  return [paint(style, label) + first.slice(label.length), ...more];
}

function page(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}

const LABELS: Readonly<Record<keyof ReceiptCounters, string>> = {
  memFree: 'MemFree',
  memAvailable: 'MemAvailable',
  cached: 'Cached',
  sReclaimable: 'SReclaimable',
  dirty: 'Dirty',
  driverPools: 'driver pools',
  cudaFree: 'CUDA free',
};

/** Counters that are not known here are left out; --json has them with the reason. */
export function receiptLines({ before, after, change }: Receipt, { width, paint }: RenderOptions): string[] {
  const names = (Object.keys(LABELS) as (keyof ReceiptCounters)[]).filter(
    (name) => before[name] !== null || after[name] !== null,
  );
  const right = { align: 'right' } as const;
  const rows = names.map((name) => [
    LABELS[name],
    formatBytes(before[name]),
    formatBytes(after[name]),
    signed(change[name]),
  ]);
  const [heading = '', ...lines] = table(
    [{ align: 'left' }, right, right, right],
    [['', 'before', 'after', 'change'], ...rows],
    width,
  );
  return [paint('heading', heading), ...lines];
}

/** "+1.2 GiB": a change without its sign would be read as an amount. */
export function signed(bytes: number | null): string {
  return bytes !== null && bytes > 0 ? `+${formatBytes(bytes)}` : formatBytes(bytes);
}
