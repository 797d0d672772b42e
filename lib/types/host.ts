/** The host's part of a snapshot: kernel memory counters, the ledger, pressure, free blocks, settings and limits. */

import type { Amount, Integer, Natural } from './scalars.ts';

/** Pressure stall information of one class of stall, in percent and microseconds, from `/proc/pressure/memory`. */
export interface Psi {
  /** Share of the last 10 s in which tasks waited for memory, in percent (0.30 means 0.3 %, not 30 %). */
  avg10: Amount;
  /** The same over the last 60 s, in percent. */
  avg60: Amount;
  /** The same over the last 300 s, in percent. */
  avg300: Amount;
  /** Total waiting time since boot, in microseconds. */
  totalUs: Amount;
}

/**
 * `some`: at least one task waited. `full`: every runnable task waited at the same time, the best known sign of a
 * wedge.
 */
export interface Pressure {
  some: Psi;
  full: Psi;
}

/** Number of free blocks of one size, from `/proc/buddyinfo`, zone Normal summed over NUMA nodes. */
export interface FreeBlocks {
  /** Binary logarithm of the block size in base pages. */
  order: Natural;
  /** Size of one block: base page × 2^order. */
  blockBytes: Natural;
  freeBlocks: Natural;
  /**
   * The part of `freeBlocks` in movable pageblocks, from `/proc/pagetypeinfo` (root only): compaction can make larger
   * blocks of them. The kernel counts to 100,000, so there may be more. null: not read.
   */
  movableBlocks: Natural | null;
}

/**
 * The memory of the machine as the kernel counts it. Each field is the line of `/proc/meminfo` of the same name
 * (kB there, bytes here; counts stay counts). `null`: this kernel has no such line, or it is not what a kernel writes:
 * another unit than kB, no number, two such lines, more than MemTotal. `from` of a snapshot says which.
 */
export interface HostMemory {
  /** MemTotal: the memory that the kernel manages. A GB10 has 119.7 or 121.7 GiB of the nominal 128 GB. */
  total: Natural;
  /** MemFree: unused pages. `cudaMemGetInfo` reports it as free on an integrated GPU. */
  free: Natural | null;
  /** MemAvailable: the kernel's estimate of what a new allocation can get without swapping. */
  available: Natural | null;
  buffers: Natural | null;
  /** Cached: page cache including shared memory, without swap cache. */
  cached: Natural | null;
  swapCached: Natural | null;
  /** Shmem: tmpfs and shared memory. Part of `cached`; dropping caches does not free it. */
  shmem: Natural | null;
  anonPages: Natural | null;
  anonHugePages: Natural | null;
  mapped: Natural | null;
  mlocked: Natural | null;
  unevictable: Natural | null;
  dirty: Natural | null;
  writeback: Natural | null;
  activeFile: Natural | null;
  inactiveFile: Natural | null;
  /** KReclaimable: SReclaimable and other kernel memory with a shrinker. */
  kReclaimable: Natural | null;
  sReclaimable: Natural | null;
  sUnreclaim: Natural | null;
  kernelStack: Natural | null;
  pageTables: Natural | null;
  /** SecPageTables: page tables of IOMMUs and KVM. */
  secPageTables: Natural | null;
  percpu: Natural | null;
  vmallocUsed: Natural | null;
  committedAs: Natural | null;
  hardwareCorrupted: Natural | null;
  zswap: Natural | null;
  swapTotal: Natural | null;
  swapFree: Natural | null;
  /** HugePages_Total: pages, not bytes. */
  hugePagesTotal: Natural | null;
  /** HugePages_Free: pages, not bytes. */
  hugePagesFree: Natural | null;
  hugePageSize: Natural | null;
  /** Hugetlb: all reserved huge pages of every size. */
  hugetlb: Natural | null;
  cmaTotal: Natural | null;
  cmaFree: Natural | null;
}

/** One line of the ledger, in bytes. `from` names the counter of /proc, the sum of NVML or the calculation. */
export interface LedgerEntry {
  /** Stable id. */
  label: LedgerLabel;
  /** Only `unattributed` may be negative: the kernel then counted some pages twice. */
  bytes: Integer;
  /**
   * Present if the bytes are a bound only. `gpuProcesses`: `atLeast`: NVML's list lacks processes or the bytes of some;
   * `atMost`: its sum exceeds what no other row claims, because it counts shared memory in each process.
   * `unattributed`: the opposite.
   */
  bound?: 'atLeast' | 'atMost';
  from: string;
}

/** Parts of MemTotal: each byte is in exactly one. */
export type LedgerLabel =
  | 'free'
  | 'freeInCpuLists'
  | 'pageCache'
  | 'buffers'
  | 'shmem'
  | 'swapCache'
  | 'anonymous'
  | 'hugePages'
  | 'kernelReclaimable'
  | 'slabUnreclaimable'
  | 'kernelStack'
  | 'pageTables'
  | 'percpu'
  | 'zswap'
  | 'zram'
  | 'hardwareCorrupted'
  | 'gpuProcesses'
  | 'driverPools'
  | 'unattributed';

/** The use of MemTotal. The entries, including the unattributed remainder, sum to `total` exactly. */
export interface Ledger {
  /** MemTotal, in bytes. */
  total: Natural;
  entries: LedgerEntry[];
  /**
   * Memory that could not be split because a counter is missing: "Cached is missing: page cache is in no counter". []
   * on every usual kernel. With an entry, `unattributed` is not memory that nobody accounts for.
   */
  notSplit: string[];
}

/**
 * The kernel's memory settings and reclaim counters (`/proc/sys/vm`, `/proc/vmstat`). Counters are counts since boot:
 * of events, or of pages where they begin with `pg`.
 */
export interface KernelMemory {
  release: string | null;
  /** vm.min_free_kbytes, in bytes. Raising it lowers MemAvailable, not MemFree. */
  minFree: Natural | null;
  /** vm.watermark_scale_factor: ten-thousandths of memory between the watermarks. */
  watermarkScaleFactor: Amount | null;
  /** vm.watermark_boost_factor: ten-thousandths of the high watermark. */
  watermarkBoostFactor: Amount | null;
  /** vm.swappiness: 0 to 200; 0 keeps anonymous memory out of swap. */
  swappiness: Amount | null;
  /** vm.compaction_proactiveness: 0 to 100; 0 is off. */
  compactionProactiveness: Amount | null;
  /** `always`, `madvise` or `never`. */
  transparentHugePages: string | null;
  /**
   * Free pages that the processors keep in lists of their own, in bytes, from `/proc/zoneinfo`: up to an eighth of memory.
   * Neither MemFree nor MemAvailable has them; the kernel takes them back before it reclaims.
   */
  freeInCpuLists: Natural | null;
  /** Compressed swap in zram devices, in bytes, from `/sys/block/zram<n>/mm_stat`. No line of meminfo has it. */
  zram: Natural | null;
  compactStall: Amount | null;
  compactFail: Amount | null;
  compactSuccess: Amount | null;
  /** Direct reclaim: pages scanned and reclaimed by tasks that waited for them. */
  pgscanDirect: Amount | null;
  pgstealDirect: Amount | null;
  pgscanKswapd: Amount | null;
  pgstealKswapd: Amount | null;
  allocstall: Amount | null;
  oomKill: Amount | null;
  pgmajfault: Amount | null;
}

/** NVIDIA kernel module facts (`/proc/driver/nvidia`, debugfs as root). */
export interface DriverFacts {
  /** "580.142", from /proc/driver/nvidia/version. */
  version: string | null;
  /**
   * Number of EnableSystemMemoryPools of /proc/driver/nvidia/params: 0 is off, 529 the default from driver 590 on;
   * null: no such parameter.
   */
  systemMemoryPools: Amount | null;
  /** Bytes in the driver's page pools, from the shrinker counts in debugfs (root only). */
  poolBytes: Natural | null;
}

/** Limits of this process's cgroup, in bytes. They are context: CUDA memory is not charged to it. */
export interface CgroupLimits {
  version: 1 | 2;
  path: string;
  /** memory.max / memory.limit_in_bytes: the smallest of this cgroup and its visible ancestors; null: no limit. */
  limit: Natural | null;
  /** memory.high, likewise the smallest; null: no limit. */
  high: Natural | null;
  /** memory.current / memory.usage_in_bytes. */
  current: Natural | null;
}
