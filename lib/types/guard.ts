/** guard(): runs a program, or watches one that runs, and stops it before it takes the machine down. */

/** What makes room while a program loads: drop clean page cache, compact free memory. */
export type LoadAction = 'drop' | 'compact';

/**
 * What of the whole machine may be stopped, and in which order. Names of units and containers, in which `*` stands for any
 * characters: "vllm*.service", "docker:*".
 */
export interface GuardPolicy {
  schema?: 'umaprobe/guard-policy/1';
  /** Default: every unit and container that holds GPU memory. */
  mayStop?: readonly string[];
  /** Besides what is never stopped: systemd, dbus, sshd, the network, desktops, the guard itself. */
  never?: readonly string[];
  /** `gpu` (default): the largest holder of GPU memory first. `memory`: of host and GPU memory. `listed`: as in `mayStop`. */
  order?: 'gpu' | 'memory' | 'listed';
}

/**
 * What runs already: a process with its descendants, a cgroup, a unit of systemd, or the whole system, of which one unit after
 * the other is stopped until the memory is back.
 */
export type GuardTarget = { pid: number } | { cgroup: string } | { unit: string } | { system: GuardPolicy };

/** Options of `guard()`: exactly one of `command` and `target`. */
export interface GuardOptions {
  /** Program and its arguments: an array, never a shell. Without a slash it is looked up in PATH. */
  command?: readonly string[];
  /** What runs already. */
  target?: GuardTarget;
  /** Working folder of the program; default: that of this process. */
  cwd?: string;
  /** Environment of the program; default: that of this process. */
  env?: Readonly<Record<string, string | undefined>>;
  /**
   * `inherit` (default): the program has standard input, output and error of this process, with terminal and job control.
   * `stderr`: the same, and its standard output goes to standard error. `pipe`: each line of its output is an event
   * `output`, and its standard input is empty.
   */
  stdio?: 'inherit' | 'stderr' | 'pipe';
  /**
   * Memory to leave the host, in bytes, less than MemTotal. Default: the larger of 8 GiB and 7 % of MemTotal, but no more
   * than a quarter of it. At least 2 GiB unless `acceptAFrozenMachine`.
   */
  floorBytes?: number;
  /** Allow a floor below 2 GiB. Default `false`. */
  acceptAFrozenMachine?: boolean;
  /**
   * Available memory below which nothing else is needed to stop the program, in bytes, less than MemTotal. Default: 2 GiB, on
   * machines below 32 GiB a sixteenth of MemTotal. A limit above the floor is the floor, too.
   */
  killBelowBytes?: number;
  /** Between two readings, in milliseconds, 1 to 1000; default 10. */
  intervalMs?: number;
  /** Between SIGTERM and SIGKILL, in milliseconds, up to 600,000; default 5000. */
  graceMs?: number;
  /**
   * What makes room while the program loads, once little memory is free. Default: `drop` and `compact`, each where this
   * process may write the kernel's file (root).
   */
  loadActions?: readonly LoadAction[];
  /**
   * Regular expression (RE2) for a line of the program's output that says that it is ready, and ends its loading. The
   * output then goes through this process: the program has pipes instead of a terminal there. Default: it loads until it
   * ends.
   */
  ready?: string;
  /** Judge and report, and do nothing. Default `false`. */
  dryRun?: boolean;
  /** SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1 and SIGUSR2 of this process go to the program. Default `false`. */
  forwardSignals?: boolean;
  /** Called with each event. If it throws, the program is stopped, and `guard()` rejects with that error. */
  onEvent?: (event: GuardEvent) => void;
  /** Aborted: the program is stopped (SIGTERM, `graceMs`, SIGKILL), and the outcome is `aborted`. */
  signal?: AbortSignal;
}

/**
 * Why the guard acted. `floor-near`: at its present slope available memory reaches the floor within a second. `below-kill`:
 * it is below `killBelowBytes`. `low-and-stalled`: below the floor for seconds, with another sign: stalls, no
 * large blocks, swap used up, or it still falls. `stalled`: no task could run for minutes. `loading`: little is free while
 * the program loads. `requested`: the signal was aborted.
 */
export type GuardReason = 'floor-near' | 'below-kill' | 'low-and-stalled' | 'stalled' | 'loading' | 'requested';

/** What the guard saw when it acted. Bytes; null: not read. */
export interface GuardEvidence {
  /** MemAvailable. */
  available: number | null;
  /** MemFree. */
  free: number | null;
  /** Free pages in the processors' lists (/proc/zoneinfo), which count besides MemAvailable; null: not known. */
  freeInCpuLists: number | null;
  /** Change of MemAvailable in bytes per second; negative: it falls. */
  slope: number | null;
  /** Seconds until available memory reaches the floor at this slope; null: it does not fall, or is below. */
  secondsToFloor: number | null;
  /** PSI full of memory over 10 s, in percent. */
  pressureFull: number | null;
  /** Free memory in blocks of at least 2 MiB (/proc/buddyinfo). */
  freeBlocks: number | null;
  swapFree: number | null;
  /** Host memory of the program's processes. */
  groupBytes: number | null;
  /** GPU memory of the program's processes (NVML). */
  groupGpuBytes: number | null;
}

/** What the guard did. */
export interface GuardAction {
  type: 'action';
  /** ISO 8601, UTC. */
  at: string;
  /** `term` and `kill`: SIGTERM and SIGKILL to every process of the program. */
  action: LoadAction | 'warn' | 'term' | 'kill';
  reason: GuardReason;
  /** What was seen, as one sentence. */
  sentence: string;
  /** Of a whole system: the cgroup that got the signal; else null. */
  target: string | null;
  evidence: GuardEvidence;
  /** With `dryRun`: nothing was done. */
  dryRun: boolean;
  /** Why it could not be done; null: it was. */
  failure: string | null;
}

/** What happens while a program is guarded. Times are ISO 8601, UTC; sizes bytes. */
export type GuardEvent =
  | { type: 'started'; at: string; pid: number | null; processGroup: number | null; cgroup: string | null }
  | { type: 'output'; at: string; stream: 'stdout' | 'stderr'; line: string }
  /** End of the load phase. */
  | { type: 'loaded'; at: string }
  /** About every 100 ms. */
  | {
      type: 'reading';
      at: string;
      available: number | null;
      free: number | null;
      groupBytes: number | null;
      groupGpuBytes: number | null;
    }
  | GuardAction
  | { type: 'ended'; at: string; exitCode: number | null; signal: string | null };

/** In bytes. */
export interface GuardReading {
  /** What programs can get: MemAvailable, and the free pages in the processors' lists. */
  available: number | null;
  /** MemFree. */
  free: number | null;
}

/** What happened to a guarded program. */
export interface GuardReport {
  schema: 'umaprobe/guard/1';
  /** Name of the simulated machine; null: real hardware. */
  simulated: string | null;
  command: readonly string[] | null;
  target: GuardTarget | null;
  /** `exited`: by itself. `stopped`: by the guard. `aborted`: by the signal. `gone`: the program of `target` has ended. */
  outcome: 'exited' | 'stopped' | 'aborted' | 'gone';
  /** null: a signal ended it, or it is not known. */
  exitCode: number | null;
  /** Signal that ended it, "SIGTERM"; null: none. */
  signal: string | null;
  /** Why the guard stopped it; null: it did not. */
  reason: GuardReason | null;
  /** One sentence that says what was seen; null: the guard did not stop it. */
  sentence: string | null;
  /** Memory to leave the host, in bytes, and the rule that gave it. */
  floor: { bytes: number; from: string };
  killBelowBytes: number;
  startedAt: string;
  endedAt: string;
  durationMs: number;
  /** Before the program began. */
  before: GuardReading;
  /** Lowest in between, also of the time in which JavaScript was blocked. */
  lowest: GuardReading;
  /** After it ended. */
  after: GuardReading;
  /** Highest PSI full over 10 s, in percent; null: this kernel does not report it. */
  highestPressure: number | null;
  /** Highest sums over the program's processes, in bytes; null: not read. */
  peak: { groupBytes: number | null; groupGpuBytes: number | null };
  /** Oldest first. */
  actions: GuardAction[];
  /** Readings of the guard, and its CPU time in milliseconds. */
  readings: number;
  cpuMs: number;
}
