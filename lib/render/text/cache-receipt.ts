/** Before, after and change of an action, as a table. */
import { formatBytes } from '../../base/format.ts';
import type { Screen } from '../../cli/core/screen.ts';
import type { Receipt, ReceiptCounters } from '../../types/index.ts';
import { table } from '../text-layout.ts';

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
export function receiptLines({ before, after, change }: Receipt, { columns, paint }: Screen): string[] {
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
    columns,
  );
  return [paint('heading', heading), ...lines];
}

/** "+1.2 GiB": a change without its sign would be read as an amount. */
export function signed(bytes: number | null): string {
  return bytes !== null && bytes > 0 ? `+${formatBytes(bytes)}` : formatBytes(bytes);
}
