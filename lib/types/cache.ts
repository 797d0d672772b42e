/** The page cache: what is in it, and getting memory back, always with a receipt. */

/** One file's pages. */
export interface CachedFile {
  path: string;
  /** Size of the file. */
  bytes: number;
  cachedBytes: number | null;
  /** null: mincore was used, which does not know. */
  dirtyBytes: number | null;
  writebackBytes: number | null;
  /** Processes that map it; empty: none that can be seen. */
  mappedBy: { pid: number; name: string | null; locked: boolean }[];
  /** Why `cachedBytes` is null. */
  reason: string | null;
}

/** A well-known place of model files. */
export interface ModelStore {
  /** "huggingface", "ollama", "lmstudio", "vllm", "torch". */
  name: string;
  path: string;
  /** The variable or default that led there: "HF_HOME", "~/.ollama/models". */
  from: string;
}

/** A tree, a file or a store that was asked about. Sums are over all of it, whatever `files` lists. */
export interface CacheTarget {
  path: string;
  store: ModelStore | null;
  files: number;
  /** Bytes of the files, each inode counted once. */
  bytes: number;
  cachedBytes: number;
  /** Of `cachedBytes`: in file systems that live in memory (tmpfs). It is the files themselves and cannot be given back. */
  memoryBytes: number;
  /** null: mincore was used, which does not know. */
  dirtyBytes: number | null;
  writebackBytes: number | null;
  /** Cached bytes of files that some process maps. */
  mappedBytes: number;
  /** Files whose pages the kernel shows only to their owner, and their bytes: in `files` and `bytes`, not in `cachedBytes`. */
  unseenFiles: number;
  unseenBytes: number;
  /** What could not be looked at: path and why. At most 100 listed; `problemCount` counts all. */
  problems: { path: string; reason: string }[];
  problemCount: number;
  /** FIFOs, sockets, devices: not files with a cache. */
  special: number;
  /** Symbolic links, which are not followed, and hard links to files already counted. */
  links: number;
  /** Gone before they could be looked at. */
  vanished: number;
  /** False: the walk was ended before its end. */
  complete: boolean;
}

/**
 * The machine's page cache, from /proc/meminfo. `modelFiles` (null is counted as 0) + `otherFiles` + `shmem` +
 * `slabReclaimable` = `total` = Buffers + Cached + SReclaimable, exactly. Shared memory is page cache to the kernel, so
 * `Cached` has it in it, although dropping cannot give it back.
 */
export interface CacheSplit {
  /** Cached bytes of the targets. null: no files were looked at (a simulated machine has none). */
  modelFiles: number | null;
  /** Buffers + Cached − Shmem − the above: files that were not asked about, and the block devices' own pages. */
  otherFiles: number;
  /** Shmem: tmpfs and shared memory. */
  shmem: number;
  /** SReclaimable: inodes, directory entries. */
  slabReclaimable: number;
  total: number;
  dirty: number | null;
  writeback: number | null;
}

export interface CacheStatus {
  schema: 'umaprobe/cache-status/1';
  at: string;
  simulated: string | null;
  /** `cachestat`: the system call (Linux 6.5). `mincore`: older kernels; no dirty pages, and 0 for files of others. */
  method: 'cachestat' | 'mincore' | null;
  /** What the method could not see. */
  limits: string[];
  /** The machine's cache as a whole; null: this kernel does not say. */
  machine: CacheSplit | null;
  targets: CacheTarget[];
  /** The files with the most cached bytes, at most `top`, sorted by them. */
  files: CachedFile[];
  /** Processes whose mappings could not be read: of other users. */
  unreadableProcesses: number;
  durationMs: number;
}

export interface CacheProgress {
  files: number;
  bytes: number;
  path: string;
}

export interface CacheStatusOptions {
  /** How many files to list: 0 to 100000. Default 20. */
  top?: number;
  signal?: AbortSignal;
  onProgress?: (progress: CacheProgress) => void;
}

/** Before and after of an action, in bytes; null: not known. `change` = after − before, null where one of them is. */
export interface Receipt {
  before: ReceiptCounters;
  after: ReceiptCounters;
  change: ReceiptCounters;
  /** Where each counter comes from, or why it is null. */
  from: Record<keyof ReceiptCounters, string>;
}

export interface ReceiptCounters {
  memFree: number | null;
  memAvailable: number | null;
  cached: number | null;
  sReclaimable: number | null;
  dirty: number | null;
  /** What the driver's page pools hold (driver 590 and later); readable by root only. */
  driverPools: number | null;
  /** What cudaMemGetInfo calls free on a unified device: MemFree. null elsewhere: page cache takes nothing of that memory. */
  cudaFree: number | null;
}

export interface EvictedFile {
  path: string;
  cachedBefore: number;
  cachedAfter: number;
  /** Bytes that left. */
  evictedBytes: number;
  /** Why some stayed: "mapped by pid 4242 (vllm)", "dirty: not written, see sync", "locked", "being read". null: none stayed. */
  stayed: string | null;
  mappedBy: { pid: number; name: string | null; locked: boolean }[];
}

export interface EvictReport {
  schema: 'umaprobe/cache-evict/1';
  at: string;
  simulated: string | null;
  state: 'complete' | 'aborted';
  /** As the walk found them: `cachedBytes`, `dirtyBytes` and `writebackBytes` are from before the eviction. */
  targets: CacheTarget[];
  /** Files that had something cached, most first, at most `top`. Sums below are over all. */
  files: EvictedFile[];
  evictedBytes: number;
  stayedBytes: number;
  /** Files whose pages cannot be seen: asked to go, but nobody can say what went. */
  unseenFiles: number;
  unseenBytes: number;
  /** Stayed bytes by reason; they add up to `stayedBytes`. */
  stayedBy: { mapped: number; dirty: number; locked: number; memory: number; other: number };
  /** Time spent writing dirty pages, in milliseconds. */
  syncMs: number;
  receipt: Receipt;
  durationMs: number;
}

export interface EvictOptions extends CacheStatusOptions {
  /** Write dirty pages first (fdatasync), so that they can go, too. Default false: they stay. */
  sync?: boolean;
}

export interface DropReport {
  schema: 'umaprobe/cache-drop/1';
  at: string;
  simulated: string | null;
  level: 1 | 2 | 3;
  /** What the level frees, in words. */
  meaning: string;
  by: 'write' | 'sudo';
  /** `sync` first: null when it was not done. `finished` false: it was still writing at its limit; the drop went on. */
  sync: { durationMs: number; finished: boolean } | null;
  dropMs: number;
  receipt: Receipt;
  /** What a next allocation on the GPU can have now more than before, at once and after reclaim. null: no unified device. */
  nextAllocation: { immediate: number | null; afterReclaim: number | null } | null;
  /** "4 model files (38 GB) are mapped by vllm (4242): major faults follow". */
  warnings: string[];
  durationMs: number;
}

export interface DropOptions {
  /** 1: page cache. 2: slab and shrinkers, hence the driver's page pools. 3 (default): both. */
  level?: 1 | 2 | 3;
  /** `sync` before, so that dirty pages can go. Default true. */
  sync?: boolean;
  /** Limit for it, in milliseconds: 100 to 3600000. Default 60000. */
  syncLimitMs?: number;
  /** Run the one fixed command through `sudo -n`. */
  sudo?: boolean;
  /** Also under memory pressure. */
  force?: boolean;
}

export interface BlocksByOrder {
  order: number;
  blockBytes: number;
  before: number;
  after: number;
}

export interface CompactReport {
  schema: 'umaprobe/cache-compact/1';
  at: string;
  simulated: string | null;
  /**
   * `ok`: the gate was met before. `compacted`: it is met now. `not-ready`: it is not, and programs or page cache that hold
   * memory are the reason (see `reason`). `reboot-required`: the memory is free and idle, and still in pieces.
   */
  verdict: 'ok' | 'compacted' | 'not-ready' | 'reboot-required';
  reason: string;
  by: 'write' | 'sudo' | null;
  gate: ContiguityGate;
  orders: BlocksByOrder[];
  /** As the gate counts: bytes available, and how many times `gate.blockBytes` lie in free blocks that can be pinned. */
  before: { available: number | null; blocks: number };
  after: { available: number | null; blocks: number };
  /** null: nothing was done. */
  compactMs: number | null;
  receipt: Receipt;
  durationMs: number;
}

export interface ContiguityGate {
  availableBytes: number;
  blockBytes: number;
  blocks: number;
}

export interface CompactOptions {
  /** Default: 96 GiB available and 200 blocks of 32 MiB on a machine of 120 GiB, the same shares on a smaller one. */
  gate?: Partial<ContiguityGate>;
  /** Compact although the gate is met. */
  always?: boolean;
  sudo?: boolean;
}

export interface ReclaimReport {
  schema: 'umaprobe/cache-reclaim/1';
  at: string;
  simulated: string | null;
  cgroup: string;
  askedBytes: number;
  /** memory.current before − after; negative: its programs took more meanwhile. */
  gotBytes: number;
  /** The kernel found less than was asked (EAGAIN). */
  short: boolean;
  before: number;
  after: number;
  receipt: Receipt;
  durationMs: number;
}

export interface ReclaimOptions {
  bytes: number;
  /** Path under /sys/fs/cgroup, or as in /proc/self/cgroup. Default: the cgroup of this process. */
  cgroup?: string;
}
