/** Amounts in sentences about the cache. */
import { formatBoth, formatBytes, formatCount, GiB, MiB } from './format.ts';

/** "1 file", "12,345 files". */
export function fileCount(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'file' : 'files'}`;
}

/** "35.40 GiB (38.01 GB)", "177.1 MiB (185.7 MB)", "512 B": in both units, in the size that fits. */
export function bothUnits(bytes: number | null): string {
  if (bytes === null || Math.abs(bytes) >= GiB) return formatBoth(bytes);
  return Math.abs(bytes) < MiB ? formatBytes(bytes) : `${formatBytes(bytes)} (${(bytes / 1e6).toFixed(1)} MB)`;
}
