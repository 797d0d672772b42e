/** The ledger: where the bytes of MemTotal are. */

import type { DriverFacts, HostMemory, KernelMemory, Ledger, LedgerEntry } from '../../types/index.ts';
import { gpuProcessesEntry, type ListedGpuMemory } from './gpu-processes.ts';

/** Memory inside MemTotal that is in no line of meminfo, from other sources. */
export interface OutsideMeminfo {
  /** GPU memory of processes on devices that share the host's memory, from NVML; null: unknown. */
  gpuProcesses: ListedGpuMemory | null;
  /** Size of the driver's page pools (driver 590 and later, readable by root); null: unknown. */
  driverPools: number | null;
  /** Free pages in lists of the processors, from /proc/zoneinfo; null: unknown. */
  freeInCpuLists: number | null;
  /** Memory of zram devices, from /sys/block; null: unknown. */
  zram: number | null;
}

/**
 * The use of MemTotal, row by row. No page is in two rows, and the row `unattributed` is the remainder, so the entries
 * sum to MemTotal to the byte. The remainder contains GPU memory on a unified machine: cudaMalloc pages are in no line
 * of /proc/meminfo. The row `gpuProcesses` never makes the remainder negative: see gpu-processes.ts.
 *
 * The kernel's own counting can make the remainder negative for a moment: counters are summed from per-CPU deltas, and
 * a swap cache page that is still mapped is also in AnonPages.
 */
export function ledger(host: HostMemory, outside: OutsideMeminfo): Ledger {
  const rows: [LedgerEntry['label'], number | null, string][] = [
    ['free', host.free, 'MemFree'],
    ['freeInCpuLists', outside.freeInCpuLists, '/proc/zoneinfo'],
    ['pageCache', less(host.cached, host.shmem), host.shmem === null ? 'Cached' : 'Cached − Shmem'],
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
    ['zram', outside.zram, '/sys/block/zram*/mm_stat'],
    ['hardwareCorrupted', host.hardwareCorrupted, 'HardwareCorrupted'],
    ['driverPools', outside.driverPools, 'debugfs shrinkers nv-sysmem-alloc-*'],
  ];
  const entries: LedgerEntry[] = [];
  let rest = host.total;
  for (const [label, bytes, from] of rows) {
    if (bytes === null) continue;
    entries.push({ label, bytes, from });
    rest -= bytes;
  }
  const gpu = outside.gpuProcesses === null ? null : gpuProcessesEntry(outside.gpuProcesses, rest);
  if (gpu !== null) entries.push(gpu);
  const missing = notSplit(host);
  entries.push({
    label: 'unattributed',
    bytes: rest - (gpu?.bytes ?? 0),
    ...(gpu?.bound === undefined ? {} : { bound: gpu.bound === 'atMost' ? 'atLeast' : 'atMost' }),
    from: ['MemTotal − all of the above', ...missing].join('; '),
  });
  return { total: host.total, entries, notSplit: missing };
}

/**
 * MemTotal less every row but that of GPU processes, in bytes. Their part of the shared pool cannot be more, whatever
 * their sum is.
 */
export function mostGpuMemory(
  host: HostMemory,
  { freeInCpuLists, zram }: Pick<KernelMemory, 'freeInCpuLists' | 'zram'>,
  { poolBytes }: Pick<DriverFacts, 'poolBytes'>,
): number {
  const others = ledger(host, { gpuProcesses: null, driverPools: poolBytes, freeInCpuLists, zram });
  return Math.max(0, ledgerBytes(others, 'unattributed'));
}

/**
 * The counters that every Linux of the last ten years has, and the memory that cannot be told apart without them. Others
 * (Percpu, Zswap, Hugetlb…) are absent where the kernel was built without the feature, and then nothing is missing.
 */
const SPLITTING_COUNTERS = [
  ['free', 'MemFree', 'free memory'],
  ['cached', 'Cached', 'page cache'],
  ['buffers', 'Buffers', 'the cache of block devices'],
  ['anonPages', 'AnonPages', 'the memory of programs'],
  ['sUnreclaim', 'SUnreclaim', 'slab of the kernel'],
  ['pageTables', 'PageTables', 'page tables'],
] as const satisfies readonly (readonly [keyof HostMemory, string, string])[];

function notSplit(host: HostMemory): string[] {
  const sentences = SPLITTING_COUNTERS.filter(([field]) => host[field] === null).map(
    ([, counter, memory]) => `${counter} is missing: ${memory} is in no counter`,
  );
  if (host.kReclaimable === null && host.sReclaimable === null)
    sentences.push('KReclaimable and SReclaimable are missing: the kernel’s caches are in no counter');
  if (host.shmem === null && host.cached !== null) sentences.push('Shmem is missing: shared memory is in pageCache');
  return sentences;
}

/** Bytes of one row; 0 for a missing row, so use it for sums and drawings only. */
export function ledgerBytes({ entries }: Ledger, label: LedgerEntry['label']): number {
  return entries.find((entry) => entry.label === label)?.bytes ?? 0;
}

function less(a: number | null, b: number | null): number | null {
  return a === null ? null : Math.max(0, a - (b ?? 0));
}

function sum(a: number | null, b: number | null): number | null {
  return a === null ? b : a + (b ?? 0);
}

function hugePages(host: HostMemory): number | null {
  if (host.hugetlb !== null) return host.hugetlb;
  return host.hugePagesTotal === null || host.hugePageSize === null ? null : host.hugePagesTotal * host.hugePageSize;
}
