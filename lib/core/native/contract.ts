/**
 * The native contract: every function of the binary, and the types that it takes and returns. Native code reports
 * facts, TypeScript interprets them. A fact that could not be read is a Failure in place of its value.
 */

import type { Fact, Failure } from '../../base/errors.ts';
import type { AllocatorKind, ProbeGuardReport } from '../../types/index.ts';

/** A library opened at run time. Absent properties were not read before the deadline. */
export interface NativeLibrary {
  path?: string;
  /** Set when it could not be opened or its first call failed. */
  failure?: Failure;
}

/** One device as CUDA reports it. Absent properties were not read before the deadline (see `timedOut`). */
export interface NativeCudaDevice {
  ordinal?: number;
  name?: Fact<string>;
  uuid?: Fact<string>;
  pciBusId?: Fact<string>;
  computeCapability?: Fact<string>;
  totalMem?: Fact<number>;
  /** True if this process has a primary context (`cuDevicePrimaryCtxGetState`). */
  contextActive?: Fact<boolean>;
  /** `[free, total]` of cudaMemGetInfo; absent: not requested. */
  memGetInfo?: Fact<[number, number]>;
  /** Name in DEVICE_ATTRIBUTES → value. */
  attributes?: Record<string, Fact<number>>;
}

export interface NativeCudaReport {
  runtime: NativeLibrary;
  driver: NativeLibrary;
  /** 13000 = 13.0. */
  runtimeVersion?: Fact<number>;
  driverVersion?: Fact<number>;
  /** A failure here is that of counting: no device, no driver. */
  deviceCount?: Fact<number>;
  /** Number of this reading of names, ids and attributes, from 1; 0: one of them is not complete. */
  identities: number;
  devices: NativeCudaDevice[];
  /** Set when the deadline passed; `call` names the call that did not return. */
  timedOut: Failure | null;
}

export interface NativeNvmlProcess {
  pid: number;
  /** null: the driver reports "not available". */
  gpuBytes: number | null;
}

export interface NativeNvmlDevice {
  index?: number;
  name?: Fact<string>;
  uuid?: Fact<string>;
  pciBusId?: Fact<string>;
  /** nvmlDeviceGetMemoryInfo_v2, or v1 in older libraries (then reserved is null); `call` names the one used. */
  memory?: Fact<{ total: number; free: number; used: number; reserved: number | null; call: string }>;
  /** Compute and graphics lists merged by pid; a process in both counts once, with the larger number. */
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

/** The allocator after allocOpen(). */
export interface NativeAllocator {
  /** The function called for each kind, or why the kind cannot be used on this device. */
  kinds: Record<AllocatorKind, Fact<string>>;
  /**
   * "kernel": umaprobe's own GPU kernels fill and verify blocks. Otherwise why they could not be loaded; then blocks
   * are filled by memset and cannot be verified.
   */
  kernel: Fact<string>;
  /** `[free, total]` of cudaMemGetInfo after the allocator has created its context. */
  memGetInfo: Fact<[number, number]>;
  /** Time to create the context and load the GPU kernels. */
  durationMs: number;
}

/** Rules by which the guard of a probe trips; the others are in native/guard/rules.h. */
export interface ProbeRules {
  /** Trips when MemAvailable is below; 0: not watched. */
  floorBytes: number;
  /** Trips when PSI full is at or above, and dangerous; 0: not watched. */
  pressureFullPercent: number;
  /** Trips when the parent process is not this one; 0: not watched. */
  parent: number;
  /** Ends the process so long after a trip that did not help; 0: never. */
  exitAfterMs: number;
  /** Takes a line of each trip; -1: none. */
  reportFd: number;
}

/**
 * A trip of the guard: its reading, its time (CLOCK_MONOTONIC, as process.hrtime), and the time from that reading until
 * no allocation, touch or verification was running, and until all blocks were freed; null: not yet, or not read. It is
 * a line on `reportFd` when the guard trips, and one when it ends the process (`left`).
 */
export interface ProbeTrip {
  reason: ProbeGuardReport['reason'];
  available: number | null;
  freeInCpuLists: number | null;
  pressureFull: number | null;
  stoppedAfterMs: number | null;
  freedAfterMs: number | null;
  atMs: number;
  left: boolean;
}

/**
 * State of the guard. PSI full is the larger of avg10 as the kernel last updated it (every two seconds), and avg10 as of now.
 */
export interface NativeGuard {
  running: boolean;
  ticks: number;
  /** Lowest MemAvailable (bytes) and highest PSI full (percent) so far; null: not read. */
  lowestAvailable: number | null;
  highestPressure: number | null;
  /** CPU time of the guard thread. */
  cpuMs: number;
  trip: ProbeTrip | null;
}

export interface NativeRecorderOptions {
  /** Time between two readings of MemFree, 1,000 to 1,000,000. */
  intervalUs: number;
  /** Time of one frame of readings: last, lowest and highest values. */
  frameUs: number;
  /** Time between two writes, each followed by fdatasync. */
  syncUs: number;
  /** Its name in messages. */
  folder: string;
  /** Descriptors of the folder and of its lock. The recorder duplicates both. */
  folderFd: number;
  lockFd: number;
  /** Size of a segment, and of all segments together. */
  segmentBytes: number;
  totalBytes: number;
  /** JSON object at the start of each segment, without its closing brace. */
  header: string;
}

/** State of the recorder. Bytes; null: not read. */
export interface NativeRecorder {
  running: boolean;
  samples: number;
  frames: number;
  /** Frames that were dropped because the disk was slow for a minute. */
  lostFrames: number;
  writtenBytes: number;
  /** Notes of recorderNote() that are on disk. */
  writtenNotes: number;
  /** Segments removed before their time because the disk is full. */
  removedSegments: number;
  /** CPU time of the thread that reads. */
  cpuMs: number;
  lowestFree: number | null;
  lowestAvailable: number | null;
  /** Failure of the last write; null: it succeeded. */
  failure: Failure | null;
}

/**
 * A file found by a walk, and its pages in the page cache. Cached bytes are whole pages, so they may exceed `bytes` by
 * less than a page (a huge page if the kernel used one).
 */
export interface NativeCachedFile {
  /**
   * The given path plus the names in the directories below it. A byte that is not UTF-8 becomes the lone surrogate
   * U+DC00 + byte (Python's surrogateescape), which `cacheWalk` turns back into the byte, so that every path survives a
   * round trip.
   */
  path: string;
  /** `link`: a symbolic link, or an inode already found. `special`: FIFO, socket, device. `problem`: see `failure`. */
  what: 'file' | 'link' | 'special' | 'problem';
  bytes?: number;
  dev?: number;
  ino?: number;
  /**
   * Bytes in cache, before the eviction if there is one. Absent: not permitted (`failure`, EPERM). Both methods report
   * a file's pages only to its owner, to users who may write it, and to processes with CAP_FOWNER.
   */
  cached?: number;
  /** null: mincore does not report it. */
  dirty?: number | null;
  writeback?: number | null;
  /** True on a memory file system (tmpfs): the pages are the file itself and cannot be evicted. */
  memory?: true;
  /** Eviction only. Absent: not permitted, as for `cached`. */
  cachedAfter?: number;
  syncMs?: number;
  /**
   * A `problem` has why it could not be opened or examined. A `file` has why its pages are unknown (EPERM), or why it
   * could not be written (fdatasync; then none of its pages were evicted).
   */
  failure?: Failure;
}

export interface NativeWalkOptions {
  /**
   * `status`: read only. `evict`: posix_fadvise(DONTNEED) for clean pages, then read again. `evict-sync`: fdatasync
   * first. Files whose pages are not visible are advised too; the result for them is unknown.
   */
  mode: 'status' | 'evict' | 'evict-sync';
  /** Lists also files without cached pages, links and special files, which are otherwise only counted. */
  listEmpty: boolean;
  /**
   * List only files that are among the `top` most-cached found so far, and files that an eviction left partly cached.
   * The union of all batches therefore contains the overall top. Absent: list every file with cached pages; 100,000
   * entries take 0.25 s of the JavaScript thread.
   */
  top?: number;
  /** Tests use mincore even if cachestat is available. */
  method?: 'mincore';
}

export interface NativeWalkBatch {
  method: 'cachestat' | 'mincore';
  /** They are about 450 at most; the next call returns the rest. The sums below cover the whole walk so far. */
  entries: NativeCachedFile[];
  /**
   * Four columns for every file with cached pages since the last batch, listed or not: dev, ino, cached, cachedAfter
   * (equal to cached without an eviction).
   */
  inodes: Float64Array;
  files: number;
  directories: number;
  /** Symbolic links inside trees, and inodes found again (hard links, a path given twice). */
  links: number;
  special: number;
  /** Number of all problems; only the first 100 are listed without `listEmpty`. */
  problems: number;
  /** Files deleted between the directory listing and their examination; not counted as problems. */
  vanished: number;
  /**
   * Mount points of pseudo file systems without pages (proc, sysfs, cgroup), not entered. One of `paths` is a problem
   * instead.
   */
  pseudo: number;
  /** Files whose pages the kernel does not report to this user, and their size. */
  unseen: number;
  unseenBytes: number;
  bytes: number;
  cached: number;
  /** Part of `cached` on memory file systems. */
  memory: number;
  /** null: mincore does not report it. */
  dirty: number | null;
  writeback: number | null;
  /** Eviction only: part of `cached` that stayed. */
  cachedAfter: number;
  syncMs: number;
  /** Current position of the walk. */
  path: string;
  done: boolean;
}

/** File mappings of processes, from /proc/<pid>/maps. */
export interface NativeMappings {
  /**
   * Four columns for each requested inode and process that maps it: dev, ino, pid, locked (1: partly locked by mlock).
   * A flat array, because a library that every process maps gives thousands of rows.
   */
  files: Float64Array;
  /** Processes of other users, whose mappings are not readable. Kernel threads have none and do not count. */
  unreadable: number;
}

/**
 * A process stays on one machine, real or simulated, for its life. The first reading of any thread decides, by
 * UMAPROBE_SIM in that thread's `process.env`. Each thread reads its `process.env` once; if it names another machine,
 * all readings of that thread fail with EBUSY and no library is opened.
 */
export interface NativeBinding {
  /** Names of the slots that `hostMemory` fills, in order: keys of HostMemory. */
  hostMemoryFields(): string[];
  /** Reads /proc/meminfo (of the real or the simulated kernel) into `out`: bytes or counts, NaN for a missing line. */
  hostMemory(out: Float64Array): Failure | null;
  /** The same for a text that was read before. */
  parseMeminfo(text: string, out: Float64Array): Failure | null;
  /**
   * Bytes of free pages in the lists of the processors, in a text of /proc/zoneinfo. NaN: the text has no list, a list is not
   * readable, or the text is cut off.
   */
  parseCpuLists(text: string): number;
  /** The same of /proc/zoneinfo within a deadline, as `readFilesWithin`: it takes as long as the rest of a snapshot. */
  readCpuLists(deadlineMs: number): Promise<[Fact<number>]>;
  /**
   * Texts of files in /proc and /sys, of the real or the simulated kernel; each at most 1 MiB. There is no time limit:
   * a file that does not answer stops this thread. Fails at once for a file whose reading within a limit has not
   * returned.
   */
  readFiles(paths: string[]): Fact<string>[];
  /**
   * The same on threads of the addon. A file that does not answer within the deadline is a TIMEOUT, alone; until it
   * answers, the next reading of it fails at once.
   */
  readFilesWithin(paths: string[], deadlineMs: number): Promise<Fact<string>[]>;
  /**
   * The same for files that are read again and again: their descriptors stay open. `bytes` limits each text, 1 to 1
   * MiB.
   */
  rereadFilesWithin(paths: string[], bytes: number[], deadlineMs: number): Promise<Fact<string>[]>;
  /** Size of a base page in bytes (sysconf), of the real or the simulated kernel. */
  pageSize(): number;
  /** Names in a directory of /proc or /sys, of the real or the simulated kernel. */
  listDirectory(path: string): Fact<string[]>;
  /** The same within a deadline, as `readFilesWithin`. */
  listDirectoryWithin(path: string, deadlineMs: number): Promise<[Fact<string[]>]>;

  /**
   * Facts of every CUDA device. `memGetInfo`: 0 never, 1 if a context exists, 2 create a context. CUDA errors are
   * reported in place of the values; they do not reject the promise.
   *
   * @param knownIdentities `identities` of the report whose names, ids and attributes the caller has: while they are
   *   valid, this report has the same number and leaves them out. Default 0: the caller has none.
   */
  readCuda(memGetInfo: 0 | 1 | 2, deadlineMs: number, knownIdentities?: number): Promise<NativeCudaReport>;
  readNvml(deadlineMs: number): Promise<NativeNvmlReport>;
  /**
   * The readings of each snapshot in one answer, because waking this thread takes longer than most readings:
   * /proc/meminfo as `hostMemory` gives its numbers, files as `rereadFilesWithin`, NVML and CUDA.
   */
  readMachine(
    memGetInfo: 0 | 1 | 2,
    knownIdentities: number,
    deadlineMs: number,
    paths: string[],
    bytes: number[],
    filesDeadlineMs: number,
  ): Promise<[[Fact<Float64Array>], texts: Fact<string>[], NativeNvmlReport, NativeCudaReport]>;
  /** cudaMemGetInfo of a device, unchanged, on the CUDA worker thread; creates a context. */
  memGetInfo(device: number, deadlineMs: number): Promise<Fact<[number, number]>>;
  /**
   * The same on the calling thread, without a deadline: out[0] free, out[1] total. Fails at once while any CUDA call of
   * this process hangs beyond its deadline.
   */
  memGetInfoSync(device: number, out: Float64Array): Failure | null;

  /**
   * Creates this environment's allocator on a device: context, GPU kernels, kinds. A second call for the same device
   * returns the same allocator; for another device it fails with EBUSY. All allocator calls run in order on the CUDA
   * worker thread.
   *
   * Names of the addon's own failures: NOT_OPEN (no allocOpen before), UNKNOWN_BLOCK (freed, or never allocated),
   * EINVAL (arguments), STOPPED (the guard has tripped), NOT_SUPPORTED (verify without GPU kernels), TIMEOUT. A block
   * that is allocated after its deadline or after a trip is freed at once.
   */
  allocOpen(device: number, deadlineMs: number): Promise<Fact<NativeAllocator>>;
  /**
   * `bytes`: 1 to 2^53 - 1. `durationMs`: duration of the allocating call alone. Fails with STOPPED from a trip of the
   * guard until the next `guardStart`, and for an unsupported kind with the failure in `kinds`.
   */
  allocBlock(kind: string, bytes: number, deadlineMs: number): Promise<Fact<{ block: number; durationMs: number }>>;
  /**
   * The device writes a pattern to every byte, which depends on `seed` (0 to 2^53 - 1) and the offset. It works in
   * slices, so that a trip stops it (STOPPED) within tens of milliseconds.
   */
  touchBlock(block: number, seed: number, deadlineMs: number): Promise<Fact<{ durationMs: number }>>;
  /**
   * The device compares every byte with the pattern. `mismatches`: number of bytes. `firstMismatch`: offset in bytes.
   */
  verifyBlock(
    block: number,
    seed: number,
    deadlineMs: number,
  ): Promise<Fact<{ durationMs: number; mismatches: number; firstMismatch: number | null }>>;
  freeBlock(block: number, deadlineMs: number): Promise<Fact<{ durationMs: number }>>;
  /** Frees all blocks, also after a trip. Blocks that cannot be freed stay held, and the first failure is returned. */
  freeBlocks(deadlineMs: number): Promise<Fact<{ durationMs: number; blocks: number; bytes: number }>>;
  /** Number of blocks and bytes held. */
  liveBlocks(): [number, number];
  /**
   * Starts the guard: a thread that watches /proc/meminfo and stops the allocator without JavaScript. One per
   * environment (EBUSY while one runs); a new guard lets the allocator allocate again. Fails if a floor is set and
   * MemAvailable cannot be read.
   */
  guardStart(rules: ProbeRules): Failure | null;
  guardRead(): NativeGuard;
  guardStop(): void;

  /** pipe2(2): the descriptors to read from and to write to. Node's own pipes are sockets, which cannot be opened as /dev/stdout. */
  openPipe(): [number, number] | Failure;
  /**
   * Gives the signals that a program can take to the program of a guard from now on: they are written to a pipe.
   * Returns the pipe's end to read from; -1: none, or they are taken already. Listeners of these signals that are added
   * or removed until `returnSignals` end that.
   */
  takeSignals(): number;
  returnSignals(): void;
  /** Ends this process by the signal, at once, without a core file. */
  endBySignal(number: number): never;

  /**
   * Starts the recorder: a thread that reads the machine's memory and one that writes the readings. One per environment
   * (EBUSY while one runs). Opens the folder, and writes the header of the first segment, before it returns.
   */
  recorderStart(options: NativeRecorderOptions): Failure | null;
  /** Adds a text to the recording; it is on disk within milliseconds. false: no recorder runs, or it is too long (64 KiB). */
  recorderNote(json: string): boolean;
  recorderRead(): NativeRecorder;
  /**
   * Descriptor of the shared memory in which a guard writes its reading every `intervalUs` microseconds, so that the
   * recorder of this environment need not read. -1: none runs, it reads more often, or the kernel has no such memory.
   */
  recorderReadings(intervalUs: number): number;
  /** Both threads end once everything is written: `running` is then false. */
  recorderStop(): void;

  /**
   * Starts a walk over files and directory trees, in order, and returns its id. Symbolic links are followed only if
   * they are one of `paths`. NOT_SUPPORTED on a simulated machine: its page cache has no files, and no simulated report
   * shows real ones.
   */
  cacheWalk(paths: string[], options: NativeWalkOptions): Fact<number>;
  /**
   * Continues the walk for about `sliceMs`, at least one file, on a worker thread. A TIMEOUT loses nothing: the next
   * batch has the results; its message names the blocking path. EINVAL: no such walk, or it is finished.
   */
  cacheNext(walk: number, sliceMs: number, deadlineMs: number): Promise<Fact<NativeWalkBatch>>;
  /** Ends a walk early. Unknown ids and finished walks are ignored. */
  cacheEnd(walk: number): void;
  /** The path without links, in the notation of `NativeCachedFile`, and whether it is a directory. */
  resolvePath(path: string, deadlineMs: number): Promise<Fact<{ path: string; directory: boolean }>>;
  /** Processes that map the inodes, given as pairs of dev and ino. NOT_SUPPORTED on a simulated machine. */
  mappings(inodes: Float64Array, deadlineMs: number): Promise<Fact<NativeMappings>>;
  /**
   * sync(2) of all file systems of the real or simulated machine, on a separate thread. While it still runs after its
   * deadline, other calls work, and the next syncAll fails at once.
   */
  syncAll(deadlineMs: number): Promise<Fact<{ durationMs: number }>>;
  /**
   * One write to /proc/sys/vm/drop_caches, /proc/sys/vm/compact_memory or a cgroup's memory.reclaim, of the real or the
   * simulated kernel. Any other path: EINVAL.
   */
  writeFile(path: string, data: string, deadlineMs: number): Promise<Fact<{ durationMs: number }>>;

  /**
   * Has the kernel kill this process when its parent ends (PR_SET_PDEATHSIG), also while it is stopped. The caller
   * compares `process.ppid` afterwards: a parent that ended before this call is not noticed.
   */
  dieWithParent(): Failure | null;

  /** Name of the simulated machine of this process; null: the real machine. Counts as a reading. */
  simulatedMachine(): Fact<string> | null;
  /**
   * Environment variables that put another process on the same machine with the same libraries, with the values of this
   * thread's `process.env` at its first reading; '' means not set. Counts as a reading.
   */
  machineVariables(): Record<string, string>;
  /**
   * Puts the process on a simulated machine; must come before any reading. EBUSY: there was a reading on another
   * machine.
   */
  enterMachine(library: string, statePath: string): Failure | null;
  /** Creates the state file of a simulated machine from its flat description ("path value" lines). */
  simBoot(library: string, description: string, statePath: string): Failure | null;
  /** The record of the simulated machine as JSON: when and by which process it was wedged, and its allocations. */
  simRecord(library: string, statePath: string): Fact<string>;
  /**
   * Takes host memory of the simulated machine until this process holds `bytes`, or gives some back. Waits where the
   * machine has none, and does not return once it is wedged. ENOTSUP on the real machine; ENOMEM on one that is full and does not wedge.
   */
  simHold(bytes: number): Failure | null;
  /** Seconds of the machine per real second: 1 on the real one. Counts as a reading. */
  timeScale(): number;
}
