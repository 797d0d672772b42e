/** The ledger: where the bytes of MemTotal are. */

import type { HostMemory, Ledger, LedgerEntry } from '../types/index.ts';

/** Memory inside MemTotal that is in no line of meminfo, from other sources. */
export interface OutsideMeminfo {
  /** GPU memory of processes on devices that share the host's memory, from NVML; null: unknown. */
  gpuProcesses: number | null;
  /** Size of the driver's page pools (driver 590 and later, readable by root); null: unknown. */
  driverPools: number | null;
}

/**
 * The use of MemTotal, row by row. No page is in two rows, and the row `unattributed` is the remainder, so the entries
 * sum to MemTotal to the byte. On a unified machine the remainder contains GPU memory: cudaMalloc pages are in no line
 * of /proc/meminfo.
 *
 * The kernel's own counting can make the remainder negative for a moment: counters are summed from per-CPU deltas, and
 * a swap cache page that is still mapped is also in AnonPages.
 */
export function ledger(host: HostMemory, outside: OutsideMeminfo): Ledger {
  const rows: [LedgerEntry['label'], number | null, string][] = [
    ['free', host.free, 'MemFree'],
    ['pageCache', less(host.cached, host.shmem), 'Cached − Shmem'],
    ['buffers', host.buffers, 'Buffers'],
    ['shmem', host.shmem, 'Shmem'],
    ['swapCache', host.swapCached, 'SwapCached'],
    ['anonymous', host.anonPages, 'AnonPages'],
    ['hugePages', hugePages(host), host.hugetlb === null ? 'HugePages_Total × Hugepagesize' : 'Hugetlb'],
    [
      'kernelReclaimable',
      host.kReclaimable ?? host.sReclaimable,
      host.kReclaimable === null ? 'SReclaimable' : 'KReclaimable',
    ],
    ['slabUnreclaimable', host.sUnreclaim, 'SUnreclaim'],
    ['kernelStack', host.kernelStack, 'KernelStack'],
    ['pageTables', sum(host.pageTables, host.secPageTables), 'PageTables + SecPageTables'],
    ['percpu', host.percpu, 'Percpu'],
    ['zswap', host.zswap, 'Zswap'],
    ['hardwareCorrupted', host.hardwareCorrupted, 'HardwareCorrupted'],
    ['gpuProcesses', outside.gpuProcesses, 'sum of NVML processes on devices that share this memory'],
    ['driverPools', outside.driverPools, 'debugfs shrinkers nv-sysmem-alloc-*'],
  ];
  const entries: LedgerEntry[] = [];
  let attributed = 0;
  for (const [label, bytes, from] of rows) {
    if (bytes === null) continue;
    entries.push({ label, bytes, from });
    attributed += bytes;
  }
  entries.push({ label: 'unattributed', bytes: host.total - attributed, from: 'MemTotal − all of the above' });
  return { total: host.total, entries };
}

/** Bytes of one row; 0 for a missing row, so use it for sums and drawings only. */
export function ledgerBytes({ entries }: Ledger, label: LedgerEntry['label']): number {
  return entries.find((entry) => entry.label === label)?.bytes ?? 0;
}

function less(a: number | null, b: number | null): number | null {
  return a === null ? null : a - (b ?? 0);
}

function sum(a: number | null, b: number | null): number | null {
  return a === null ? b : a + (b ?? 0);
}

function hugePages(host: HostMemory): number | null {
  if (host.hugetlb !== null) return host.hugetlb;
  return host.hugePagesTotal === null || host.hugePageSize === null ? null : host.hugePagesTotal * host.hugePageSize;
}
