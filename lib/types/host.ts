/** The host's side: memory as the kernel counts it, the ledger, pressure, free blocks, settings and limits. */

/** Pressure stall information of one class of stall, from `/proc/pressure/memory`. */
export interface Psi {
  /** Percent of the last 10 s in which tasks waited for memory (0.30 means 0.3 %, not 30 %). */
  avg10: number;
  /** Percent of the last 60 s. */
  avg60: number;
  /** Percent of the last 300 s. */
  avg300: number;
  /** Waiting since boot, in microseconds. */
  totalUs: number;
}

/** `some`: at least one task waited. `full`: every runnable task waited at once; the best known sign of a wedge. */
export interface Pressure {
  some: Psi;
  full: Psi;
}

/** Free blocks of one size, from `/proc/buddyinfo`, zone Normal summed over NUMA nodes. */
export interface FreeBlocks {
  /** Power of two of base pages. */
  order: number;
  /** Size of one block: base page × 2^order. */
  blockBytes: number;
  freeBlocks: number;
}

/**
 * The memory of the machine as the kernel counts it. Each field is the line of `/proc/meminfo` of the same name
 * (kB there, bytes here; counts stay counts). A line that this kernel does not have is `null`.
 */
export interface HostMemory {
  /** MemTotal: what the kernel manages. On a GB10 119.7 or 121.7 GiB of the nominal 128 GB. */
  total: number;
  /** MemFree: pages that nobody uses. On an integrated GPU this is also what `cudaMemGetInfo` calls free. */
  free: number | null;
  /** MemAvailable: the kernel's estimate of what a new allocation can get without swapping. */
  available: number | null;
  buffers: number | null;
  /** Cached: page cache, shared memory included, swap cache not. */
  cached: number | null;
  swapCached: number | null;
  /** Shmem: tmpfs and shared memory; inside `cached`, and not given back by dropping caches. */
  shmem: number | null;
  anonPages: number | null;
  anonHugePages: number | null;
  mapped: number | null;
  mlocked: number | null;
  unevictable: number | null;
  dirty: number | null;
  writeback: number | null;
  activeFile: number | null;
  inactiveFile: number | null;
  /** KReclaimable: SReclaimable and other kernel memory with a shrinker. */
  kReclaimable: number | null;
  sReclaimable: number | null;
  sUnreclaim: number | null;
  kernelStack: number | null;
  pageTables: number | null;
  /** SecPageTables: page tables of IOMMUs and KVM. */
  secPageTables: number | null;
  percpu: number | null;
  vmallocUsed: number | null;
  committedAs: number | null;
  hardwareCorrupted: number | null;
  zswap: number | null;
  swapTotal: number | null;
  swapFree: number | null;
  /** HugePages_Total: pages, not bytes. */
  hugePagesTotal: number | null;
  /** HugePages_Free: pages, not bytes. */
  hugePagesFree: number | null;
  hugePageSize: number | null;
  /** Hugetlb: all reserved huge pages of every size. */
  hugetlb: number | null;
  cmaTotal: number | null;
  cmaFree: number | null;
}

/** One line of the ledger. `from` names the counter or the subtraction that it came from. */
export interface LedgerEntry {
  /** Stable id. */
  label: LedgerLabel;
  /** Only `unattributed` may be negative: then the kernel counted some pages under two headings. */
  bytes: number;
  from: string;
}

export type LedgerLabel =
  | 'free'
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
  | 'hardwareCorrupted'
  | 'gpuProcesses'
  | 'driverPools'
  | 'unattributed';

/** Where the bytes of MemTotal are. The entries sum to `total` exactly, the unattributed remainder included. */
export interface Ledger {
  total: number;
  entries: LedgerEntry[];
}

/** The kernel's memory settings and reclaim counters (`/proc/sys/vm`, `/proc/vmstat`). Counters count since boot. */
export interface KernelMemory {
  release: string | null;
  /** vm.min_free_kbytes, in bytes. Raising it lowers MemAvailable, not MemFree. */
  minFree: number | null;
  watermarkScaleFactor: number | null;
  watermarkBoostFactor: number | null;
  swappiness: number | null;
  compactionProactiveness: number | null;
  /** `always`, `madvise` or `never`. */
  transparentHugePages: string | null;
  compactStall: number | null;
  compactFail: number | null;
  compactSuccess: number | null;
  /** Direct reclaim: pages scanned and taken by tasks that had to wait for them. */
  pgscanDirect: number | null;
  pgstealDirect: number | null;
  pgscanKswapd: number | null;
  pgstealKswapd: number | null;
  allocstall: number | null;
  oomKill: number | null;
  pgmajfault: number | null;
}

/** NVIDIA kernel module facts (`/proc/driver/nvidia`, debugfs as root). */
export interface DriverFacts {
  /** "580.142", from /proc/driver/nvidia/version. */
  version: string | null;
  /** EnableSystemMemoryPools of /proc/driver/nvidia/params; 0 is off, 529 is the default from driver 590 on; null: no such parameter. */
  systemMemoryPools: number | null;
  /** Bytes now held in the driver's page pools: shrinker counts in debugfs, root only. */
  poolBytes: number | null;
}

/** Limits of the cgroup this process is in: context only, CUDA memory is not charged to it. */
export interface CgroupLimits {
  version: 1 | 2;
  path: string;
  /** memory.max / memory.limit_in_bytes, the smallest of this cgroup and its visible ancestors; null: no limit. */
  limit: number | null;
  /** memory.high; null: none. */
  high: number | null;
  /** memory.current / memory.usage_in_bytes. */
  current: number | null;
}
