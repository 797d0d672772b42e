/** Amounts in sentences about the cache. */
import { formatBoth, formatBytes, GiB, MiB } from '../format.ts';

/** "35.40 GiB (38.01 GB)", "177.1 MiB (185.7 MB)", "512 B": in both units, in the size that fits. */
export function bothUnits(bytes: number | null): string {
  if (bytes === null || Math.abs(bytes) >= GiB) return formatBoth(bytes);
  return Math.abs(bytes) < MiB ? formatBytes(bytes) : `${formatBytes(bytes)} (${(bytes / 1e6).toFixed(1)} MB)`;
}
