/** guard(): runs a program, or watches one that runs, and stops it before it takes the machine down. */

import type { ProgramEnd } from './results.ts';
import type { Amount, Integer, Natural, OfMachine, Timestamp } from './scalars.ts';

/** Ways to make room while a program loads: drop clean page cache, compact free memory. */
export type LoadAction = 'drop' | 'compact';

/**
 * Names of units and containers, in which `*` stands for any characters: "vllm*.service", "docker:*".
 * @pattern ^[\w:.@*\\-]{1,255}$
 */
export type UnitPattern = string;

/** Units of the whole machine that may be stopped, and their order. */
export interface GuardPolicy {
  schema?: 'umaprobe/guard-policy/1';
  /** Default: every unit and container that holds GPU memory. */
  mayStop?: readonly UnitPattern[];
  /** Further units that are never stopped, besides systemd, dbus, sshd, the network, desktops, the guard itself. */
  never?: readonly UnitPattern[];
  /** `gpu` (default): the largest holder of GPU memory first. `memory`: of host and GPU memory. `listed`: as in `mayStop`. */
  order?: 'gpu' | 'memory' | 'listed';
}

/**
 * Running target: a process (by its process id) with its descendants, a cgroup, a unit of systemd, or the whole system,
 * whose units are stopped one after the other until the memory is back.
 */
export type GuardTarget = { pid: Integer } | { cgroup: string } | { unit: string } | { system: GuardPolicy };

/**
 * The reason why the guard acted. `floor-near`: the program takes the memory left above the floor, and reaches it soon
 * after the grace of SIGTERM. `below-kill`: available memory is below `killBelowBytes`. `low-and-stalled`: it is below
 * the floor for seconds, with another sign: stalls, no large blocks, swap used up, or it still falls. `stalled`: no
 * task could run for minutes. `loading`: little is free while the program loads. `requested`: the signal was aborted.
 */
export type GuardReason = 'floor-near' | 'below-kill' | 'low-and-stalled' | 'stalled' | 'loading' | 'requested';

/** Evidence on which the guard acted. Bytes by /proc/meminfo where nothing else is said; null: not read. */
export interface GuardEvidence {
  /** MemAvailable. */
  available: Amount | null;
  /** MemFree. */
  free: Amount | null;
  /** Free pages in the processors' lists (/proc/zoneinfo), which count besides MemAvailable; null: not known. */
  freeInCpuLists: Amount | null;
  /** Change of MemAvailable in bytes per second; negative: it falls. */
  slope: number | null;
  /**
   * Seconds until available memory reaches the floor: what is above it divided by this slope; null: it does not fall,
   * or is below.
   */
  secondsToFloor: Amount | null;
  /** PSI full of memory over 10 s, in percent, from /proc/pressure/memory. */
  pressureFull: Amount | null;
  /** Free memory in blocks of at least 2 MiB (/proc/buddyinfo). */
  freeBlocks: Amount | null;
  swapFree: Amount | null;
  /** Host memory of the program's processes: the sum from /proc/<pid>. */
  groupBytes: Amount | null;
  /** GPU memory of the program's processes (NVML). */
  groupGpuBytes: Amount | null;
  /**
   * Bytes that other processes took (AnonPages without the program's, and their GPU memory), if they took most of the
   * memory that fell and the program is spared; null: not so, or not known.
   */
  othersGrewBytes: Amount | null;
}

/** A step of the guard. */
export interface GuardAction {
  type: 'action';
  at: Timestamp;
  /** `term` and `kill`: SIGTERM and SIGKILL to every process of the program. */
  action: LoadAction | 'warn' | 'term' | 'kill';
  reason: GuardReason;
  /** The observation, as one sentence. */
  sentence: string;
  /** The cgroup that got the signal, if the whole system is guarded; else null. */
  target: string | null;
  evidence: GuardEvidence;
  /** True if `dryRun` is set: nothing was done. */
  dryRun: boolean;
  /** Reason for its failure; null: it was done. */
  failure: string | null;
}

/**
 * The guard's way to get the processor first. `realtime`: its own priority (root). `cgroup`: the control group of the
 * program has one share as a whole. `nice`: the program runs at a nice value that is higher by 10. `usual`: none.
 */
export type GuardPriority = 'realtime' | 'cgroup' | 'nice' | 'usual';

/** Shared memory that stays when a program has ended. */
export interface LeftBehind {
  /** Mount point of a tmpfs ("/dev/shm"), or "System V segments" (`ipcs -m`). */
  where: string;
  /** Growth in bytes: what statfs(2) or /proc/sysvipc/shm counted after less before. */
  bytes: Natural;
  /** The largest files that were written there meanwhile, three at most. */
  files: string[];
}

/** End of the command of `notify`. */
export interface GuardNotified {
  at: string;
  /**
   * Exit code by the shell, as waitpid(2) has it: 127 is no such program, above 128 a signal; null: it took too long
   * and was ended.
   */
  exitCode: Integer | null;
  /** The error; null: none. */
  failure: string | null;
}

/**
 * Events while a program is guarded. Times are ISO 8601, UTC; sizes bytes, those of a reading from /proc (`available`:
 * MemAvailable and the free pages in the processors' lists) and NVML. `pid`, `processGroup` and `guard` are process
 * ids.
 */
export type GuardEvent =
  | {
      type: 'started';
      at: string;
      pid: number | null;
      processGroup: number | null;
      cgroup: string | null;
      priority: GuardPriority;
    }
  | { type: 'output'; at: string; stream: 'stdout' | 'stderr'; line: string }
  /**
   * End of the load phase. `ready`: the line of the option. `plateau`: its memory grew, to `loadBytes` at least, and has not by
   * a percent of MemTotal for 30 s. `limit`: 30 minutes.
   */
  | { type: 'loaded'; at: string; because: 'ready' | 'plateau' | 'limit' }
  /** A reading about every 100 ms. */
  | {
      type: 'reading';
      at: string;
      available: number | null;
      free: number | null;
      groupBytes: number | null;
      groupGpuBytes: number | null;
    }
  | GuardAction
  /** The command of `notify` has ended. */
  | ({ type: 'notified' } & GuardNotified)
  /** Unused model files were evicted for `keepFreeBytes`; `free` is MemFree afterwards. */
  | { type: 'evicted'; at: string; bytes: number; free: number | null }
  /**
   * The program ends, and processes that it started run on. They stay guarded by the process `guard` until they end; null:
   * they are not guarded, after a dry run and on a simulated machine.
   */
  | { type: 'left'; at: string; processes: readonly { pid: number; name: string | null }[]; guard: number | null }
  | { type: 'ended'; at: string; exitCode: number | null; signal: string | null };

/** Amounts in bytes, from /proc. */
export interface GuardReading {
  /** Memory that programs can get: MemAvailable, and the free pages in the processors' lists. */
  available: Amount | null;
  /** MemFree. */
  free: Amount | null;
}

/** The course of a guarded program. */
export interface GuardReport extends OfMachine {
  schema: 'umaprobe/guard/1';
  command: readonly string[] | null;
  target: GuardTarget | null;
  outcome: ProgramEnd;
  /** Exit code by waitpid(2); null: a signal ended it, or it is not known, as of a `target`. */
  exitCode: Integer | null;
  /** Signal that ended it, "SIGTERM"; null: none. */
  signal: string | null;
  /** The reason for which the guard stopped it; null: it did not. */
  reason: GuardReason | null;
  /** The observation, as one sentence; null: the guard did not stop it. */
  sentence: string | null;
  /** The memory that is guarded is the host's, also if a GPU has memory of its own. CUDA refuses more than that has. */
  watches: 'host';
  /** Memory to leave the host, in bytes, and the rule or the caller's number that gave it. */
  floor: { bytes: Amount; from: string };
  /** Available memory below which it is killed at once: given by the caller, else the default of the option. */
  killBelowBytes: Amount;
  startedAt: Timestamp;
  endedAt: Timestamp;
  /** `endedAt` less `startedAt`. */
  durationMs: Amount;
  /** Reading before the program began. */
  before: GuardReading;
  /** Lowest in between, also of the time in which JavaScript was blocked. */
  lowest: GuardReading;
  /** Reading after it ended. */
  after: GuardReading;
  /** Highest PSI full over 10 s, in percent, from /proc/pressure/memory; null: this kernel does not report it. */
  highestPressure: Amount | null;
  /** Highest sums over the program's processes, in bytes, from /proc/<pid> and NVML; null: not read. */
  peak: { groupBytes: Amount | null; groupGpuBytes: Amount | null };
  /**
   * Shared memory that was not there before and outlives the program: 64 MiB and more, the largest first. A part may be of other
   * programs.
   */
  leftBehind: LeftBehind[];
  /** Bytes of unused model files that `keepFreeBytes` took out of the page cache: a sum of `evictFiles()`. */
  evictedBytes: Natural;
  /** Oldest first. */
  actions: GuardAction[];
  /** Ends of the command of `notify`, one for each stop. Empty: nothing was stopped, or there is no such command. */
  notified: GuardNotified[];
  /** Number of readings of the guard, counted by it. */
  readings: Natural;
  /** CPU time of the guard, by clock_gettime(2). */
  cpuMs: Amount;
}
