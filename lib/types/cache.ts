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
  dirtyBytes: number | null;
  writebackBytes: number | null;
  mappedBytes: number;
  /** What could not be looked at: path and why. At most 100 listed; `problemCount` counts all. */
  problems: { path: string; reason: string }[];
  problemCount: number;
  /** FIFOs, sockets, devices: not files with a cache. */
  special: number;
  /** Links to files already counted. */
  duplicates: number;
}

export interface CacheStatus {
  schema: 'umaprobe/cache-status/1';
  at: string;
  simulated: string | null;
  /** `cachestat`: the system call (Linux 6.5). `mincore`: older kernels; no dirty pages, and 0 for files of others. */
  method: 'cachestat' | 'mincore' | null;
  /** What the method could not see. */
  limits: string[];
  /** The machine's cache as a whole; null: cannot be read. Sums to Buffers + Cached + SReclaimable. */
  machine: {
    modelFiles: number;
    otherFiles: number;
    shmem: number;
    slabReclaimable: number;
    total: number;
    dirty: number | null;
    writeback: number | null;
  } | null;
  targets: CacheTarget[];
  /** The files with the most cached bytes, at most `top`, sorted by them. */
  files: CachedFile[];
  /** Processes whose mappings could not be read (of other users). */
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

/** Before and after of an action, in bytes; null: cannot be read. */
export interface Receipt {
  before: ReceiptCounters;
  after: ReceiptCounters;
  change: ReceiptCounters;
}

export interface ReceiptCounters {
  memFree: number | null;
  memAvailable: number | null;
  cached: number | null;
  sReclaimable: number | null;
  dirty: number | null;
  driverPools: number | null;
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
}

export interface EvictReport {
  schema: 'umaprobe/cache-evict/1';
  at: string;
  state: 'complete' | 'aborted';
  targets: CacheTarget[];
  /** Files that had something cached, most first, at most `top`. Sums below are over all. */
  files: EvictedFile[];
  evictedBytes: number;
  stayedBytes: number;
  /** Stayed bytes by reason. */
  stayedBy: { mapped: number; dirty: number; locked: number; other: number };
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
  /** `ok`: the gate was met before; nothing was done. `compacted`: it is met now. `reboot-required`: it is not. */
  verdict: 'ok' | 'compacted' | 'reboot-required';
  reason: string;
  gate: ContiguityGate;
  orders: BlocksByOrder[];
  /** Free bytes in blocks of at least `gate.blockBytes`. */
  before: { available: number | null; blocks: number };
  after: { available: number | null; blocks: number };
  compactMs: number;
  receipt: Receipt;
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
  cgroup: string;
  askedBytes: number;
  /** memory.current before − after. */
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

/** A step of `prepare`: what it would do or did. */
export interface PrepareStep {
  action: 'measure' | 'evict' | 'drop' | 'compact';
  state: 'planned' | 'done' | 'skipped' | 'failed';
  /** Why, in words: "6 model files, 38.2 GB cached, none mapped". */
  reason: string;
  /** What a next allocation can have at once, after this step. null: not run. */
  immediateBytes: number | null;
  gainedBytes: number | null;
  durationMs: number | null;
}

export interface PrepareReport {
  schema: 'umaprobe/prepare/1';
  at: string;
  simulated: string | null;
  dryRun: boolean;
  askedBytes: number;
  /** `enough`: it fits. `not-enough`: it does not, and nothing more can be done here (see `reason`). `planned`: dry run. */
  verdict: 'enough' | 'not-enough' | 'planned';
  reason: string;
  /** Where the memory comes from, in the order in which it is taken. Bytes. */
  sources: { label: string; bytes: number }[];
  steps: PrepareStep[];
  before: { immediate: number | null; afterReclaim: number | null };
  after: { immediate: number | null; afterReclaim: number | null };
  floorBytes: number;
  receipt: Receipt;
  durationMs: number;
}

export interface PrepareOptions {
  /** What is going to be allocated. */
  bytes: number;
  /** Files that may be evicted. Default: the model stores that are found. */
  paths?: readonly string[];
  /** Say what would be done, do nothing. */
  dryRun?: boolean;
  /** Memory that must be left for the host. Default as for stress. */
  floor?: number;
  sudo?: boolean;
  signal?: AbortSignal;
}
