/** The report of `processes()`: who holds the memory of this machine. */

import type { MemoryModel } from './device.ts';
import type { Amount, Integer, Natural, OfMachine, Timestamp } from './scalars.ts';

/**
 * Proportional set size in bytes, from /proc/<pid>/smaps_rollup: a page that n processes have mapped counts as 1/n in
 * each, so sums count nothing twice.
 */
export interface ProportionalMemory {
  total: Natural;
  anonymous: Natural;
  /** Mapped files in page cache. */
  file: Natural;
  /** Shared memory and tmpfs. */
  shared: Natural;
  /** Part of it that the kernel may not take back (mlock). */
  locked: Natural;
}

/**
 * The memory of one process, in bytes from /proc/<pid>/status where nothing else is said. `null`: this user may not
 * read it, or the process ended meanwhile.
 */
export interface ProcessMemory {
  /** Process id: the name in /proc. */
  pid: Natural;
  /** PPid of the same file; null: not known (GPU process of another PID namespace). */
  parentPid: Natural | null;
  /** `/proc/<pid>/comm`, at most 15 characters. */
  name: string | null;
  /** Command line, only of processes that matter here, cut at 4 KiB; null: not read. */
  command: string | null;
  /** Real user id. */
  uid: Natural | null;
  /** Container, service or process tree that it belongs to: `id` of a group. */
  group: string;
  /**
   * Known memory that the machine gets back if this process ends: anonymous memory, its share of shared memory, mapped
   * files that it has locked (mlock), and on unified memory its GPU memory. Other mapped files, which the kernel takes
   * back when it needs to, and swap do not count. null: not known.
   */
  held: Natural | null;
  /**
   * Source of `held`: `pss` counts shared pages once, `rss` counts them in each process that has them and is therefore an
   * upper bound. null: `held` is null.
   */
  heldFrom: 'pss' | 'rss' | null;
  /** VmRSS of `/proc/<pid>/status`: anonymous + file + shared. A process holds another amount: see `held`. */
  rss: Natural | null;
  /** RssAnon. */
  anonymous: Natural | null;
  /** RssFile: mapped files in page cache, such as the weights of a model that is mapped and not copied. */
  file: Natural | null;
  /** RssShmem: shared memory and tmpfs files. */
  shared: Natural | null;
  /** VmSwap: anonymous memory that is in swap. */
  swap: Natural | null;
  /** VmLck: memory that the kernel may not take back. */
  locked: Natural | null;
  /** VmHWM: the largest `rss` so far. */
  peakRss: Natural | null;
  /** Shares of the processes that matter; null: not read (small, time limit, permission), and only RSS is known. */
  pss: ProportionalMemory | null;
  /** GPU memory by NVML. It is host memory that no RSS contains if memory is unified. null: not known here. */
  gpuBytes: Natural | null;
}

/**
 * Processes that start with the same name under one parent: DataLoader workers, a server's workers. `held` is the sum
 * in bytes; `pids` are process ids.
 */
export interface ProcessPool {
  name: string;
  parentPid: Natural;
  pids: Natural[];
  held: Natural;
}

/**
 * Processes that belong together: a container, a unit of systemd, or a tree of processes. Sizes in bytes are sums over
 * its processes.
 */
export interface ProcessGroup {
  /** "docker:3f4e…", "unit:ollama.service", "tree:4711". */
  id: string;
  kind: 'container' | 'unit' | 'tree';
  /** Container id (12 characters), unit, or name of the root process. */
  name: string;
  /** The process at the top: started by none of the others. */
  rootPid: Natural;
  /** Largest first. */
  pids: Natural[];
  /** Sums over its processes; `null` values of processes are left out. */
  held: Natural;
  /** True if `held` counts shared pages once, to 1 %. false: an upper bound. */
  exact: boolean;
  anonymous: Natural;
  shared: Natural;
  file: Natural;
  swap: Natural;
  gpuBytes: Natural | null;
  pools: ProcessPool[];
}

/**
 * Shared memory that exists as a file, whether or not a process has it mapped, in bytes by statfs(2) or
 * /proc/sysvipc/shm.
 */
export interface SharedMemory {
  /** Mount point of a tmpfs ("/dev/shm"), or "System V segments". */
  name: string;
  bytes: Natural;
  from: string;
}

/**
 * One kind of memory, in bytes: the kernel's count on the whole machine, and the part that the listed processes
 * explain.
 */
export interface ExplainedMemory {
  /** The kernel's (or the driver's) sum; null: unknown. */
  total: Natural | null;
  /** The listed processes' sum. */
  listed: Natural;
  /** True if `listed` counts shared pages once. */
  exact: boolean;
}

/** Memory of processes and their groups, by `processes()`. */
export interface ProcessesReport extends OfMachine {
  schema: 'umaprobe/processes/1';
  at: Timestamp;
  /** Memory model of the GPUs; null: there is none. One unified GPU among several makes it `unified`. */
  memoryModel: MemoryModel | null;
  /** MemTotal, in bytes. */
  total: Natural;
  /** MemAvailable, in bytes. */
  available: Natural | null;
  /** Largest `held` first. */
  groups: ProcessGroup[];
  /** Every process with memory of its own, largest `held` first. Kernel threads have none. */
  processes: ProcessMemory[];
  /** Shared memory by where it lies; it is in `totals.shared`, and what processes have mapped is in their `held`. */
  sharedMemory: SharedMemory[];
  totals: { anonymous: ExplainedMemory; shared: ExplainedMemory; gpu: ExplainedMemory; swap: ExplainedMemory };
  /**
   * Bytes in no counter of the kernel and in no process: MemTotal less every row of the ledger. Driver, buffers of
   * pipes and sockets, GPU memory of processes that NVML does not list.
   */
  unattributed: Integer;
  /** Number of processes that this user may not read, and that are missing here (hidepid of /proc). */
  hiddenProcesses: Natural;
  /** Facts that could not be read, and their meaning for the figures. */
  limits: string[];
  /** Path of a property → its source, or why it is null. */
  from: Record<string, string>;
  /** Duration of the call by the monotonic clock. */
  durationMs: Amount;
}
