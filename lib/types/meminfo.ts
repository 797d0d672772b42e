/** The kernel's names of the counters of `HostMemory`. */

import type { HostMemory } from './host.ts';

export const MEMINFO = '/proc/meminfo';

/** The kernel's name of each counter. */
export const MEMINFO_KEYS = {
  total: 'MemTotal',
  free: 'MemFree',
  available: 'MemAvailable',
  buffers: 'Buffers',
  cached: 'Cached',
  swapCached: 'SwapCached',
  shmem: 'Shmem',
  anonPages: 'AnonPages',
  anonHugePages: 'AnonHugePages',
  mapped: 'Mapped',
  mlocked: 'Mlocked',
  unevictable: 'Unevictable',
  dirty: 'Dirty',
  writeback: 'Writeback',
  activeFile: 'Active(file)',
  inactiveFile: 'Inactive(file)',
  kReclaimable: 'KReclaimable',
  sReclaimable: 'SReclaimable',
  sUnreclaim: 'SUnreclaim',
  kernelStack: 'KernelStack',
  pageTables: 'PageTables',
  secPageTables: 'SecPageTables',
  percpu: 'Percpu',
  vmallocUsed: 'VmallocUsed',
  committedAs: 'Committed_AS',
  hardwareCorrupted: 'HardwareCorrupted',
  zswap: 'Zswap',
  swapTotal: 'SwapTotal',
  swapFree: 'SwapFree',
  hugePagesTotal: 'HugePages_Total',
  hugePagesFree: 'HugePages_Free',
  hugePageSize: 'Hugepagesize',
  hugetlb: 'Hugetlb',
  cmaTotal: 'CmaTotal',
  cmaFree: 'CmaFree',
} as const satisfies Record<keyof HostMemory, string>;
