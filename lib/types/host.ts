/** The host's part of a snapshot: kernel memory counters, the ledger, pressure, free blocks, settings and limits. */

/** Pressure stall information of one class of stall, from `/proc/pressure/memory`. */
export interface Psi {
  /** Share of the last 10 s in which tasks waited for memory, in percent (0.30 means 0.3 %, not 30 %). */
  avg10: number;
  /** The same over the last 60 s, in percent. */
  avg60: number;
  /** The same over the last 300 s, in percent. */
  avg300: number;
  /** Total waiting time since boot, in microseconds. */
  totalUs: number;
}

/**
 * `some`: at least one task waited. `full`: every runnable task waited at the same time, the best known sign of a
 * wedge.
 */
export interface Pressure {
  some: Psi;
  full: Psi;
}

/** Free blocks of one size, from `/proc/buddyinfo`, zone Normal summed over NUMA nodes. */
export interface FreeBlocks {
  /** Binary logarithm of the block size in base pages. */
  order: number;
  /** Size of one block: base page × 2^order. */
  blockBytes: number;
  freeBlocks: number;
  /**
   * Of `freeBlocks` those in movable pageblocks, from `/proc/pagetypeinfo` (root only): compaction can make larger blocks
   * of them. At least so many: the kernel counts to 100,000. null: not read.
   */
  movableBlocks: number | null;
}

/**
 * The memory of the machine as the kernel counts it. Each field is the line of `/proc/meminfo` of the same name
 * (kB there, bytes here; counts stay counts). `null`: this kernel has no such line, or it is not what a kernel writes:
 * another unit than kB, no number, two such lines, more than MemTotal. `from` of a snapshot says which.
 */
export interface HostMemory {
  /** MemTotal: the memory that the kernel manages. On a GB10 119.7 or 121.7 GiB of the nominal 128 GB. */
  total: number;
  /** MemFree: unused pages. On an integrated GPU `cudaMemGetInfo` reports this number as free. */
  free: number | null;
  /** MemAvailable: the kernel's estimate of what a new allocation can get without swapping. */
  available: number | null;
  buffers: number | null;
  /** Cached: page cache including shared memory, without swap cache. */
  cached: number | null;
  swapCached: number | null;
  /** Shmem: tmpfs and shared memory. Part of `cached`; dropping caches does not free it. */
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

/** One line of the ledger. `from` names the counter or the calculation. */
export interface LedgerEntry {
  /** Stable id. */
  label: LedgerLabel;
  /** Only `unattributed` may be negative: the kernel then counted some pages twice. */
  bytes: number;
  /**
   * Present if the bytes are a bound only. On `gpuProcesses`, `atLeast`: NVML's list lacks processes or the bytes of
   * some; `atMost`: its sum exceeds what no other row claims, because it counts shared memory in each process. On
   * `unattributed`, the opposite.
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
  total: number;
  entries: LedgerEntry[];
  /**
   * What could not be split because a counter is missing: "Cached is missing: page cache is in no counter". [] on
   * every usual kernel. While it is not, `unattributed` is not memory that nobody accounts for.
   */
  notSplit: string[];
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
  /**
   * Free pages that the processors keep in lists of their own, in bytes, from `/proc/zoneinfo`: up to an eighth of memory.
   * Neither MemFree nor MemAvailable has them; the kernel takes them back before it reclaims.
   */
  freeInCpuLists: number | null;
  /** Memory of zram devices, in bytes, from `/sys/block/zram<n>/mm_stat`: what is swapped to them, compressed. In no line of meminfo. */
  zram: number | null;
  compactStall: number | null;
  compactFail: number | null;
  compactSuccess: number | null;
  /** Direct reclaim: pages scanned and reclaimed by tasks that waited for them. */
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
  /**
   * EnableSystemMemoryPools of /proc/driver/nvidia/params: 0 is off, 529 the default from driver 590 on; null: no such
   * parameter.
   */
  systemMemoryPools: number | null;
  /** Bytes in the driver's page pools, from the shrinker counts in debugfs (root only). */
  poolBytes: number | null;
}

/** Limits of this process's cgroup. For context only: CUDA memory is not charged to it. */
export interface CgroupLimits {
  version: 1 | 2;
  path: string;
  /** memory.max / memory.limit_in_bytes: the smallest of this cgroup and its visible ancestors; null: no limit. */
  limit: number | null;
  /** memory.high, likewise the smallest; null: no limit. */
  high: number | null;
  /** memory.current / memory.usage_in_bytes. */
  current: number | null;
}
