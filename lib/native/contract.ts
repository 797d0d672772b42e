/**
 * Everything the binary exports: the whole native contract. Native reports facts; TypeScript gives them meaning.
 * A fact that could not be had is a NativeFailure in its place.
 */

import type { Fact, Failure } from '../base/errors.ts';
import type { AllocatorKind } from '../types/index.ts';

/** A library opened at run time. Absent properties were not reached before the deadline. */
export interface NativeLibrary {
  path?: string;
  /** Set when it could not be opened or its first call failed. */
  failure?: Failure;
}

/** One device as CUDA reports it. Absent properties were not reached before the deadline (see `timedOut`). */
export interface NativeCudaDevice {
  ordinal?: number;
  name?: Fact<string>;
  uuid?: Fact<string>;
  pciBusId?: Fact<string>;
  computeCapability?: Fact<string>;
  totalMem?: Fact<number>;
  /** Whether this process has a primary context (`cuDevicePrimaryCtxGetState`). */
  contextActive?: Fact<boolean>;
  /** `[free, total]` of cudaMemGetInfo; absent when it was not asked. */
  memGetInfo?: Fact<[number, number]>;
  /** The name of an attribute as in types.ts → value. */
  attributes?: Record<string, Fact<number>>;
}

export interface NativeCudaReport {
  runtime: NativeLibrary;
  driver: NativeLibrary;
  /** 13000 = 13.0. */
  runtimeVersion?: Fact<number>;
  driverVersion?: Fact<number>;
  /** Failure of the count itself: no device, no driver. */
  deviceCount?: Fact<number>;
  devices: NativeCudaDevice[];
  /** Set when the deadline passed; `call` is the call that did not answer. */
  timedOut: Failure | null;
}

export interface NativeNvmlProcess {
  pid: number;
  /** null: the driver says "not available". */
  gpuBytes: number | null;
}

export interface NativeNvmlDevice {
  index?: number;
  name?: Fact<string>;
  uuid?: Fact<string>;
  pciBusId?: Fact<string>;
  /** v2 where the library has it, else v1 (then reserved is null). `call` says which. */
  memory?: Fact<{ total: number; free: number; used: number; reserved: number | null; call: string }>;
  /** Compute and graphics lists merged by pid (the same process in both counts once, with the larger number). */
  processes?: Fact<NativeNvmlProcess[]>;
  /** 0 NONE, 1 HMM, 2 ATS. */
  addressingMode?: Fact<number>;
  /** [current, pending]. */
  migMode?: Fact<[number, number]>;
  utilizationPercent?: Fact<number>;
  temperatureC?: Fact<number>;
  powerMilliwatt?: Fact<number>;
  smClockMHz?: Fact<number>;
}

export interface NativeNvmlReport {
  library: NativeLibrary;
  driverVersion?: Fact<string>;
  nvmlVersion?: Fact<string>;
  /** 13000 = 13.0 */
  cudaDriverVersion?: Fact<number>;
  deviceCount?: Fact<number>;
  devices: NativeNvmlDevice[];
  timedOut: Failure | null;
}

/** Where the allocator stands. */
export interface NativeAllocator {
  /** What is called for each kind, or why it cannot be used on this device. */
  kinds: Record<AllocatorKind, Fact<string>>;
  /** "kernel": blocks are filled and verified by kernels of ours; or why those could not be loaded (then memset is used and verify is not there). */
  kernel: Fact<string>;
  /** cudaMemGetInfo, with the context that the allocator has made. */
  memGetInfo: Fact<[number, number]>;
  /** Time of making the context and loading the kernels. */
  durationMs: number;
}

/** What the guard has seen. Times are monotonic milliseconds of this process's real clock. */
export interface NativeGuard {
  running: boolean;
  ticks: number;
  /** The lowest MemAvailable (bytes) and the highest PSI full (percent, see `pressureFull` below) seen; null: not read. */
  lowestAvailable: number | null;
  highestPressure: number | null;
  /** CPU time of the guard's thread. */
  cpuMs: number;
  trip: null | {
    reason: 'floor' | 'pressure' | 'parent';
    /** At the reading that tripped it: bytes, percent. */
    available: number | null;
    pressureFull: number | null;
    /** From the reading that tripped it to: no allocation, touch or verification at work any more; all blocks freed. null: not yet. */
    stoppedAfterMs: number | null;
    freedAfterMs: number | null;
  };
}

/**
 * One line on `wordsFd`: `left` false at the trip, true when the process leaves. Both have all fields of `trip`, and when it was
 * (CLOCK_MONOTONIC, which process.hrtime reads as well).
 */
export type NativeTripReport = NonNullable<NativeGuard['trip']> & { atMs: number; left: boolean };

export interface NativeGuardOptions {
  /** Trips when MemAvailable is below: bytes; 0: does not look. */
  floor: number;
  /**
   * Trips when PSI full is at or above and a danger: percent; 0: does not look. The larger of avg10 as the kernel last had
   * it, and of avg10 as it would be if the kernel, which does that every two seconds only, brought it up to date now. A
   * danger with MemAvailable below 1.25 floors (without a floor always), while a call is under way and MemAvailable has
   * not fallen by 64 MiB for a second, and in any case after 30 s: reclaim that hands memory out is pressure as well.
   */
  pressureFull: number;
  /** 1000 to 1000000. PSI is read every 20 ms at most. */
  intervalUs: number;
  /** Trips when the parent process is not this one, by its pid; 0: does not look. */
  parent: number;
  /**
   * Leaves the process with _exit(6) when so long after the trip MemAvailable is still below the floor; when it was
   * pressure, also if a call is still at work; when the parent is gone, in any case. Once all blocks are freed and MemAvailable
   * is back it does not leave any more (but for the parent). Milliseconds; 0: never.
   */
  exitAfterMs: number;
  /** Descriptor for lines of `NativeTripReport`, without JavaScript and without ever waiting for the reader; -1: none. */
  wordsFd: number;
}

/**
 * A process is on one machine for its life: the first reading of any of its threads decides, by that thread's
 * `process.env` (UMAPROBE_SIM). Each thread reads its `process.env` once. One that names another machine than the
 * process is on gets EBUSY from the simulated and the real kernel alike, and no library.
 */
export interface NativeBinding {
  /** Names of the slots that `hostMemory` fills, in order: the keys of HostMemory. */
  hostMemoryFields(): string[];
  /** Reads /proc/meminfo (of the real or the simulated kernel) into `out`: bytes or counts, NaN where there is no such line. */
  hostMemory(out: Float64Array): Failure | null;
  /** The parser of `hostMemory` on a given text. For tests. */
  parseMeminfo(text: string, out: Float64Array): void;
  /** Texts of kernel files through the same seam. Each at most 1 MiB. */
  readFiles(paths: string[]): Fact<string>[];
  /** Size of a base page of this kernel, in bytes (sysconf); of the simulated kernel on a simulated machine. */
  pageSize(): number;
  /** Names in a directory of /proc or /sys, through the same seam. */
  listDirectory(path: string): Fact<string[]>;

  /** Facts of every CUDA device. `memGetInfo`: 0 never, 1 where a context exists, 2 create one. Never rejects for what CUDA says. */
  readCuda(memGetInfo: 0 | 1 | 2, deadlineMs: number): Promise<NativeCudaReport>;
  readNvml(deadlineMs: number): Promise<NativeNvmlReport>;
  /** Literal cudaMemGetInfo of a device on the addon's thread; creates a context. */
  memGetInfo(device: number, deadlineMs: number): Promise<Fact<[number, number]>>;
  /**
   * The same on the calling thread, without a deadline: out[0] free, out[1] total. Fails at once while a call of any
   * thread of this process has outlived its deadline in CUDA.
   */
  memGetInfoSync(device: number, out: Float64Array): Failure | null;

  /**
   * Makes this environment's allocator on a device: context, kernels, kinds. Again for the same device: the same answer.
   * Another device: EBUSY. All allocator calls run one after the other on the thread for CUDA.
   *
   * Failures of the addon itself, by name: NOT_OPEN (no allocOpen before), UNKNOWN_BLOCK (freed, or never allocated), EINVAL
   * (arguments), STOPPED (the guard has tripped), NOT_SUPPORTED (verify without kernels), TIMEOUT. A block that comes
   * after its deadline or after the trip is given back at once.
   */
  allocOpen(device: number, deadlineMs: number): Promise<Fact<NativeAllocator>>;
  /**
   * `bytes`: 1 to 2^53 - 1. `durationMs` is the allocator's call alone. Fails with STOPPED, and allocates nothing, once the guard
   * has tripped, until the next `guardStart`; with the kind's own reason where `kinds` has one.
   */
  allocBlock(kind: string, bytes: number, deadlineMs: number): Promise<Fact<{ block: number; durationMs: number }>>;
  /**
   * The device writes a pattern that depends on `seed` (0 to 2^53 - 1) and on the place to every byte. In slices: STOPPED within
   * tens of milliseconds of a trip.
   */
  touchBlock(block: number, seed: number, deadlineMs: number): Promise<Fact<{ durationMs: number }>>;
  /** The device reads every byte back and compares. `mismatches`: bytes. `firstMismatch`: offset in bytes. */
  verifyBlock(
    block: number,
    seed: number,
    deadlineMs: number,
  ): Promise<Fact<{ durationMs: number; mismatches: number; firstMismatch: number | null }>>;
  /** Writes one byte from the host. For tests of the verifier. */
  pokeBlock(block: number, offset: number, byte: number, deadlineMs: number): Promise<Failure | null>;
  freeBlock(block: number, deadlineMs: number): Promise<Fact<{ durationMs: number }>>;
  /** All of them; also works after the guard has tripped. What cannot be freed stays held, and the first reason is the answer. */
  freeBlocks(deadlineMs: number): Promise<Fact<{ durationMs: number; blocks: number; bytes: number }>>;
  /** Blocks and bytes held. */
  liveBlocks(): [number, number];
  /**
   * Starts the thread that watches /proc/meminfo and stops the allocator without JavaScript. One an environment (EBUSY while one
   * runs); a new one lets the allocator allocate again. Fails when there is a floor and MemAvailable cannot be read.
   */
  guardStart(options: NativeGuardOptions): Failure | null;
  guardRead(): NativeGuard;
  guardStop(): void;

  /**
   * Begins a walk over files and trees, in order; symbolic links are not followed, but for the paths themselves. Answers its
   * id. NOT_SUPPORTED on a simulated machine, whose page cache is a number: a simulated report never shows a real file.
   */
  cacheWalk(paths: string[], options: NativeWalkOptions): Fact<number>;
  /**
   * Goes on for about `sliceMs` on the thread for the kernel, at least one file. After a TIMEOUT nothing is lost: the next
   * answer has it. EINVAL: no such walk, or it is over.
   */
  cacheNext(walk: number, sliceMs: number, deadlineMs: number): Promise<Fact<NativeWalkBatch>>;
  /** Ends it early. Unknown ids and finished walks are fine. */
  cacheEnd(walk: number): void;
  /** Who maps these inodes, as pairs dev, ino. NOT_SUPPORTED on a simulated machine. */
  mappings(inodes: Float64Array, deadlineMs: number): Promise<Fact<NativeMappings>>;
  /**
   * sync(2) of everything, on a thread of its own: while it goes on after its deadline, everything else works, and the next
   * syncAll says at once that it is stuck. On a simulated machine: of the simulated one.
   */
  syncAll(deadlineMs: number): Promise<Fact<{ durationMs: number }>>;
  /**
   * One write to /proc/sys/vm/drop_caches, /proc/sys/vm/compact_memory or a cgroup's memory.reclaim, through the same seam as
   * readFiles. Any other path: EINVAL.
   */
  writeFile(path: string, data: string, deadlineMs: number): Promise<Fact<{ durationMs: number }>>;

  /** Name of the simulated machine this process is on, or null for the real one. Counts as a reading. */
  simulatedMachine(): Fact<string> | null;
  /**
   * Environment that puts another process on the same machine with the same libraries, as this thread's `process.env`
   * had it at the first reading; '' is as good as not set. Counts as a reading.
   */
  machineVariables(): Record<string, string>;
  /** Puts the process on a simulated machine, before any reading. EBUSY: there was one, on another machine. */
  enterMachine(library: string, statePath: string): Failure | null;
  /** Creates the state file of a simulated machine from its flat description ("path value" lines). */
  simBoot(library: string, description: string, statePath: string): Failure | null;
  /** The machine's record as JSON text: was it wedged, when, by whom; what was allocated. */
  simRecord(library: string, statePath: string): Fact<string>;
}

/**
 * A file or directory met by a walk, and what of it is in the page cache. Cached bytes are whole pages, so they may exceed
 * `bytes` by less than a page (a huge one, where the kernel took one).
 */
export interface NativeCachedFile {
  /**
   * As it was given, and below that as the directories have it. A byte that is not UTF-8 is the lone surrogate U+DC00 + byte
   * (as in Python's surrogateescape), and `cacheWalk` takes it back as that byte: every path goes round unharmed.
   */
  path: string;
  /** `file`; `link`: a symbolic link, or an inode already met; `special`: FIFO, socket, device; `problem`: see `failure`. */
  what: 'file' | 'link' | 'special' | 'problem';
  bytes?: number;
  dev?: number;
  ino?: number;
  /**
   * Bytes in cache, before an eviction where there is one. Absent when the kernel does not tell (`failure`, EPERM): both
   * methods show a file's pages only to its owner, to who may write it, or to CAP_FOWNER.
   */
  cached?: number;
  /** null: mincore does not know. */
  dirty?: number | null;
  writeback?: number | null;
  /** Of a file system that lives in memory (tmpfs): its pages are the file itself, and cannot be evicted. */
  memory?: true;
  /** Eviction only. Absent, although it was asked for: the pages cannot be seen. */
  cachedAfter?: number;
  syncMs?: number;
  /**
   * Of a `problem`: why it was not opened or looked at. Of a `file`: why its pages are not known (EPERM), or why it could not
   * be written (fdatasync; then nothing of it was evicted).
   */
  failure?: Failure;
}

export interface NativeWalkOptions {
  /**
   * `status`: look. `evict`: posix_fadvise(DONTNEED) of what is not dirty, and look again. `evict-sync`: fdatasync before.
   * Files whose pages cannot be seen are asked to go as well; nobody knows what of them went.
   */
  mode: 'status' | 'evict' | 'evict-sync';
  /** Files that have nothing in cache, links and special files are listed as well; else they are counted only. */
  listEmpty: boolean;
  /**
   * List a file with something in cache only when it is, as far as the walk has come, among so many with the most: the last
   * entries to be listed hold the `top` of all; so is every file of which an eviction left something. Absent: every one is
   * listed. 100,000 entries cost 0.25 s of JavaScript's thread.
   */
  top?: number;
  /** Use mincore although cachestat is there. For tests. */
  method?: 'mincore';
}

export interface NativeWalkBatch {
  method: 'cachestat' | 'mincore';
  /** Some 450 at most; the rest comes with the next call. Sums are of the whole walk up to now. */
  entries: NativeCachedFile[];
  /**
   * Every file that has something in cache, also those not listed, since the last batch: dev, ino, cached, cachedAfter (cached,
   * where it is not an eviction).
   */
  inodes: Float64Array;
  files: number;
  directories: number;
  /** Symbolic links inside trees, and inodes met again (hard links, a path given twice). */
  links: number;
  special: number;
  /** Without `listEmpty` the first 100 are listed. */
  problems: number;
  /** Gone between the directory's listing and the look at it: no problem. */
  vanished: number;
  /** Mount points of file systems without pages (proc, sysfs, cgroup and the like), not entered. As a given path: a problem. */
  pseudo: number;
  /** Files whose pages the kernel does not show to this user, and their bytes. */
  unseen: number;
  unseenBytes: number;
  bytes: number;
  cached: number;
  /** Of `cached`: in file systems that live in memory. */
  memory: number;
  /** null: mincore does not know. */
  dirty: number | null;
  writeback: number | null;
  /** Eviction only: what stayed of `cached`. */
  cachedAfter: number;
  syncMs: number;
  /** Where it is. */
  path: string;
  done: boolean;
}

/** Mappings of files by processes, as /proc/<pid>/maps has them. */
export interface NativeMappings {
  /**
   * dev, ino, pid, locked (1: some of it is, by mlock; else 0) of each mapping of the inodes that were asked about; each process
   * and inode once. Columns, because a library that everybody maps is thousands of them.
   */
  files: Float64Array;
  /** Processes of others, whose maps the kernel does not show to this user. Kernel threads have none and do not count. */
  unreadable: number;
}
