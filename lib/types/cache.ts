/** The page cache: its contents, and actions that free memory, each with a receipt. */

import type { RunState } from './results.ts';
import type { Amount, Integer, Natural, OfMachine, Timestamp } from './scalars.ts';

/** The page cache of one file. Bytes of pages are those of cachestat(2), or of mincore(2). */
export interface CachedFile {
  /** A byte that is not UTF-8 is the lone surrogate U+DC00 + byte. */
  path: string;
  /** Size of the file by stat(2). */
  bytes: Natural;
  cachedBytes: Natural | null;
  /** null: read with mincore, which does not report it. */
  dirtyBytes: Natural | null;
  writebackBytes: Natural | null;
  /** Processes that map the file, by /proc/<pid>/maps; empty: none visible to this user. `pid`: process id. */
  mappedBy: { pid: Natural; name: string | null; locked: boolean }[];
  /** The reason for `cachedBytes: null`. */
  reason: string | null;
}

/** A well-known location of model files. */
export interface ModelStore {
  /** "huggingface", "ollama", "lmstudio", "vllm", "torch". */
  name: string;
  path: string;
  /** The environment variable or default that names it: "HF_HOME", "~/.ollama/models". */
  from: string;
}

/**
 * A directory, file or model store that was examined. Numbers are sums over all of its files, not only those listed in
 * `files`: counts of the walk, and bytes of pages by cachestat(2) or mincore(2).
 *
 * The kernel shows the pages of a file only to its owner, to users who may write it, and to root. If it shows no cached
 * page and hides some files, every sum of pages is null and never 0. If it shows some, the sums count those: see
 * `unseenFiles`.
 */
export interface CacheTarget {
  path: string;
  /** null: the path was given. */
  store: ModelStore | null;
  /** Number of regular files, counted by the walk. */
  files: Natural;
  /** Bytes of the files by stat(2), each inode counted once. */
  bytes: Natural;
  /** null: not visible to this user. */
  cachedBytes: Natural | null;
  /**
   * Part of `cachedBytes` in memory file systems (tmpfs): these pages are the files themselves and cannot be evicted.
   */
  memoryBytes: Natural | null;
  /** null: not visible, or read with mincore, which does not report it. */
  dirtyBytes: Natural | null;
  writebackBytes: Natural | null;
  /** Cached bytes of files that some process maps. */
  mappedBytes: Natural | null;
  /**
   * Files whose cached pages the kernel reports only to their owner, and their size: included in `files` and `bytes`,
   * not in `cachedBytes`.
   */
  unseenFiles: Natural;
  unseenBytes: Natural;
  /** Paths that could not be examined, with the reason. At most 100 are listed; `problemCount` counts all. */
  problems: { path: string; reason: string }[];
  problemCount: Natural;
  /** Number of FIFOs, sockets and devices, which have no page cache. */
  special: Natural;
  /** Number of symbolic links (not followed) and hard links to files already counted. */
  links: Natural;
  /** Number of files deleted before they could be examined. */
  vanished: Natural;
  /** False: the walk was aborted. */
  complete: boolean;
}

/**
 * The machine's page cache in bytes, from /proc/meminfo. `modelFiles` (null counts as 0) + `otherFiles` + `shmem` +
 * `slabReclaimable` = `total` = Buffers + Cached + SReclaimable, exactly. The kernel counts shared memory in `Cached`,
 * although dropping caches does not free it.
 */
export interface CacheSplit {
  /**
   * Cached bytes of the targets, as far as this user sees them. null: none is visible, or no files were examined (a
   * simulated machine has none).
   */
  modelFiles: Natural | null;
  /** Buffers + Cached − Shmem − `modelFiles`: all other files, and the pages of block devices. */
  otherFiles: Natural;
  /** Shmem: tmpfs and shared memory. */
  shmem: Natural;
  /** SReclaimable: inodes, directory entries. */
  slabReclaimable: Natural;
  total: Natural;
  dirty: Natural | null;
  writeback: Natural | null;
}

/** A document about the page cache. */
interface CacheReport extends OfMachine {
  at: Timestamp;
  /** Duration of the call by the monotonic clock. */
  durationMs: Amount;
}

/** Page cache of the given files and folders, by `cacheStatus()`. Sizes in bytes. */
export interface CacheStatus extends CacheReport {
  schema: 'umaprobe/cache-status/1';
  /** `cachestat`: system call of Linux 6.5. `mincore`: for older kernels; reports no dirty pages. */
  method: 'cachestat' | 'mincore' | null;
  /** Limits of the method, as sentences. */
  limits: string[];
  /** The machine's whole page cache; null: this kernel does not report it. */
  machine: CacheSplit | null;
  targets: CacheTarget[];
  /** The files with the most cached bytes, largest first, at most `top`. */
  files: CachedFile[];
  /** Processes of other users, whose mappings cannot be read. */
  unreadableProcesses: Natural;
}

/** Progress of a walk over files. */
export interface CacheEvent {
  type: 'progress';
  /** Number of files, counted by the walk so far. */
  files: number;
  /** Sum of their sizes so far. */
  bytes: number;
  path: string;
}

/** Counters before and after an action, in bytes; null: unknown. `change` = after − before, null if either is. */
export interface Receipt {
  before: ReceiptCounters;
  after: ReceiptCounters;
  change: Record<keyof ReceiptCounters, Integer | null>;
  /** Source of each counter, or why it is null. */
  from: Record<keyof ReceiptCounters, string>;
}

/**
 * Counters before and after an action, in bytes, of /proc/meminfo where nothing else is said. null: this machine does
 * not have the counter, or it could not be read.
 */
export interface ReceiptCounters {
  /** Freed pages may go to the lists of the processors first: memory that was freed is in `memFree` plus `freeInCpuLists`. */
  memFree: Natural | null;
  /** Free pages in lists of the processors, from /proc/zoneinfo: no part of `memFree`. */
  freeInCpuLists: Natural | null;
  memAvailable: Natural | null;
  cached: Natural | null;
  sReclaimable: Natural | null;
  dirty: Natural | null;
  /** Size of the driver's page pools (driver 590 and later), from debugfs; readable by root only. */
  driverPools: Natural | null;
  /**
   * Free memory by cudaMemGetInfo on a unified device: MemFree. null elsewhere: page cache does not use GPU memory
   * there.
   */
  cudaFree: Natural | null;
}

/** One file that was evicted, or could not be. Sizes in bytes, by cachestat(2) or mincore(2) before and after. */
export interface EvictedFile {
  path: string;
  cachedBefore: Natural;
  cachedAfter: Natural;
  /** `cachedBefore` less `cachedAfter`. */
  evictedBytes: Integer;
  /**
   * The reason why bytes stayed in cache: "mapped by vllm (4242)", "dirty: not written to disk yet; --sync writes it
   * first". null: none stayed.
   */
  stayed: string | null;
  /** Processes that map it, by /proc/<pid>/maps. `pid`: process id. */
  mappedBy: { pid: Natural; name: string | null; locked: boolean }[];
}

/** Result of `evictFiles()`. Bytes are sums over its files. */
export interface EvictReport extends CacheReport {
  schema: 'umaprobe/cache-evict/1';
  state: Extract<RunState, 'complete' | 'aborted'>;
  /** The walk's findings: `cachedBytes`, `dirtyBytes` and `writebackBytes` are the values before the eviction. */
  targets: CacheTarget[];
  /** Files that had cached pages, largest first, at most `top`. The sums below cover all files. */
  files: EvictedFile[];
  /** null: the result is not visible to this user, for any file that may be cached. */
  evictedBytes: Integer | null;
  stayedBytes: Natural | null;
  /**
   * Number of files, counted by the walk, whose cached pages are not visible to this user: eviction was requested, its
   * result is unknown.
   */
  unseenFiles: Natural;
  unseenBytes: Natural;
  /** `stayedBytes` by reason. */
  stayedBy: { mapped: Natural; dirty: Natural; locked: Natural; memory: Natural; other: Natural };
  /** Time spent on writing dirty pages, by the monotonic clock. */
  syncMs: Amount;
  receipt: Receipt;
}

/** Result of `dropCaches()`. */
export interface DropReport extends CacheReport {
  schema: 'umaprobe/cache-drop/1';
  /** True: nothing was changed. */
  dryRun: boolean;
  level: 1 | 2 | 3;
  /** The memory that the level frees, as text. */
  meaning: string;
  /**
   * Bytes that the level was expected to free: sum of the counters of /proc/meminfo before it, driver pools as far as
   * they are seen.
   */
  expectedBytes: Natural;
  /** null: a dry run. */
  by: 'write' | 'sudo' | null;
  /**
   * `sync` before the drop, its milliseconds by the monotonic clock; null: not done. `finished` false: still writing at
   * its time limit; the drop was done anyway.
   */
  sync: { durationMs: Amount; finished: boolean } | null;
  /** Time of the write to /proc/sys/vm/drop_caches; null: a dry run. */
  dropMs: Amount | null;
  /** Of a dry run: the counters before, twice. */
  receipt: Receipt;
  /**
   * Increase of the next GPU allocation's limit in bytes, immediately and after reclaim: `allocatable` of a snapshot
   * after less before. null: no unified device, or a dry run.
   */
  nextAllocation: { immediate: Integer | null; afterReclaim: Integer | null } | null;
  /**
   * "2 model files (35.40 GiB (38.01 GB) cached) are mapped by vllm (4242): pages that are not in use at this moment
   * are dropped, and read from disk again on the next access (major faults)".
   */
  warnings: string[];
}

/**
 * Free blocks of one order (2^order pages, `blockBytes` bytes each) before and after a compaction, counted by
 * /proc/buddyinfo.
 */
export interface BlocksByOrder {
  order: Natural;
  blockBytes: Natural;
  before: Natural;
  after: Natural;
}

/** Result of `compact()`, and whether memory is contiguous enough now. */
export interface CompactReport extends CacheReport {
  schema: 'umaprobe/cache-compact/1';
  /**
   * `ok`: the gate was already met. `compacted`: it is met now. `not-ready`: it is not, because programs or page cache
   * hold memory (see `reason`). `reboot-required`: the memory is free and idle, and still fragmented.
   */
  verdict: 'ok' | 'compacted' | 'not-ready' | 'reboot-required';
  reason: string;
  by: 'write' | 'sudo' | null;
  gate: ContiguityGate;
  orders: BlocksByOrder[];
  /**
   * Counted in the gate's units: bytes available (MemAvailable), and pinnable free memory in blocks of
   * `gate.blockBytes` (/proc/buddyinfo).
   */
  before: { available: Natural | null; blocks: Natural };
  /** The same afterwards, in bytes and blocks, by MemAvailable and /proc/buddyinfo. */
  after: { available: Natural | null; blocks: Natural };
  /** Time of the write to /proc/sys/vm/compact_memory; null: compaction was not run. */
  compactMs: Amount | null;
  receipt: Receipt;
}

/**
 * Free memory that makes a large allocation quick: bytes in all, and blocks of a size in bytes. Given by the caller, or
 * by the rule for this machine's MemTotal.
 */
export interface ContiguityGate {
  availableBytes: Natural;
  blockBytes: Natural;
  blocks: Natural;
}

/** Result of `reclaim()`. */
export interface ReclaimReport extends CacheReport {
  schema: 'umaprobe/cache-reclaim/1';
  cgroup: string;
  /** Amount to reclaim, given by the caller. */
  bytes: Natural;
  /** memory.current before − after; negative: its programs allocated more in the meantime. */
  gotBytes: Integer;
  /** The kernel reclaimed less than requested (EAGAIN). */
  short: boolean;
  /** memory.current of the cgroup, in bytes, before and after. */
  before: Natural;
  /** memory.current, in bytes. */
  after: Natural;
  receipt: Receipt;
}

/** A line of sudoers that permits one user exactly the commands that `--sudo` runs: `umaprobe cache rule`. */
export interface SudoersRule {
  schema: 'umaprobe/cache-rule/1';
  user: string;
  /** The permitted commands, as argument lists. */
  commands: string[][];
  /** The line of the sudoers file. */
  rule: string;
  /** Path of the file for the rule. */
  file: string;
  /** Commands that check and install the rule. */
  install: string[];
}
