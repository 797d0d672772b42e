/**
 * What crosses between TypeScript and the two native guards: the one table of its names. scripts/guard-protocol.mjs makes
 * native/guard/protocol.h from it (`npm run format`). The end of a number's name is its unit: Bytes, Ms, Us, Percent,
 * Share (of 1), Factor. The native guards have no number of their own: lib/core/memory/guard-rules.ts has them all.
 */

/** A number that must be given, and the range that the native side takes; without one, that of its unit. */
interface Rule {
  about: string;
  least?: number;
  most?: number;
}

/** The rules of `umaprobe-guard`, each an argument `--name=number`. */
export const PROGRAM_RULES = {
  floorBytes: { about: 'MemAvailable that is left to the host' },
  killBelowBytes: { about: 'MemAvailable below which nothing else is needed' },
  horizonMs: {
    about: 'SIGTERM when the floor is nearer than this after the grace; SIGKILL at once when nothing is left within it',
  },
  killHorizonMs: { about: 'SIGKILL when it is nearer' },
  nearBytes: { about: 'and nearer than this for SIGTERM' },
  killNearBytes: { about: 'and nearer than this for SIGKILL' },
  crossingBytes: { about: 'SIGTERM, however slow the fall, this far above the floor' },
  burstForMs: { about: 'a fall that is over within this time is a burst' },
  burstEveryMs: { about: 'it is looked for so often' },
  burstStepBytes: { about: 'it falls by so much between two looks', least: 1 },
  burstRestMs: { about: 'it is over when it has not fallen for so long', least: 1 },
  burstMemoryMs: { about: 'how long the largest burst is expected again' },
  groupHorizonMs: { about: 'the program is measured more often when the floor is nearer than this' },
  slopeHalfMs: {
    about: 'half of the time in which a fall must be seen; then twice that, and so on',
    least: 5,
    most: 5000,
  },
  longestSlopeHalfMs: { about: 'half of the time in which a slow fall is looked for', least: 5, most: 5000 },
  minFallBytes: { about: 'a fall by less is noise', least: 1 },
  leastHalfShare: { about: 'of a lasting fall, what each half of its time has of it' },
  othersShare: { about: 'of a fall, what others must have taken for the program to be spared' },
  heldAgeShare: { about: 'of the time of a fall, how old may be what is known of who holds the memory' },
  fasterFactor: { about: 'a fall so many times faster than the last one is a new one' },
  lowForMs: { about: 'how long below the floor, with another sign, before SIGTERM', least: 1 },
  pressureFullPercent: { about: 'PSI full that is a sign', least: 1 },
  somePressurePercent: { about: 'PSI full with which missing blocks and full swap are signs' },
  pressureForMs: { about: 'how long PSI full is above to be enough by itself', least: 1 },
  minBlocksBytes: { about: 'less in free blocks of 2 MiB and more is a sign' },
  swapUsedUpShare: { about: 'less free swap than this part of it is a sign' },
  settleMs: { about: 'time in which memory comes back after a target has ended' },
  giveUpMs: { about: 'time after SIGKILL at which a target is given up' },
  loadFreeBytes: { about: 'MemFree below which caches are dropped while the program loads' },
  loadEveryMs: { about: 'between two drops', least: 10 },
  loadStepBytes: { about: 'the program loads while its memory grows by so much', least: 1 },
  loadPlateauMs: { about: 'it has loaded when that has not happened for so long', least: 1 },
  loadLeastBytes: { about: 'and not while it holds less than this' },
  loadLimitMs: { about: 'it has loaded after this time in any case', least: 1 },
  readAvailableMs: { about: 'how old MemAvailable may be', least: 1 },
  readAvailableNearMs: { about: 'the same near the floor, and beside a recorder', least: 1 },
  readNearBytes: { about: 'near: MemFree is less than this above the floor' },
  readMovedBytes: { about: 'near the floor it is read as well when MemFree has moved so far', least: 1 },
  readPressureMs: { about: 'how old PSI may be', least: 1 },
  readBlocksMs: { about: 'how old the free blocks may be', least: 1 },
  readListsMs: { about: "how old the free pages in the processors' lists may be", least: 1 },
  readListsNearMs: { about: 'the same where the guard would act', least: 1 },
  waitMs: { about: 'how long a measurement of the program is waited for before it is stopped' },
  readGroupMs: { about: 'how old the memory of the program may be', least: 1 },
  readGroupUrgentMs: { about: 'the same while the floor is near', least: 1 },
  readGroupIdleMs: { about: 'the same while no memory moves', least: 1 },
  readGpuMs: { about: 'how old its memory of the GPU may be', least: 1 },
  lookMs: { about: 'between two looks at what is being stopped', least: 1 },
  lookIdleMs: { about: 'between two looks at a control group and at the terminal', least: 1 },
  intervalMs: { about: 'between two readings', least: 1, most: 1000 },
  graceMs: { about: 'from SIGTERM to SIGKILL' },
  reportMs: { about: 'between two readings in the report', least: 1 },
  notifyMs: { about: 'how long the command that is run after a stop may take', least: 1 },
} as const satisfies Readonly<Record<string, Rule>>;

/** Other arguments of `umaprobe-guard`: each may be left out. */
export const PROGRAM_OPTIONS = {
  act: { about: '0: judges and reports only', most: 1 },
  tty: { about: '1: the program has the terminal', most: 1 },
  parent: { about: 'the process that stops and goes on with the program', most: 2 ** 30 },
  openFiles: { about: 'soft limit of open files of the program', most: 2 ** 30 },
  ignoreHangup: { about: '1: the program ignores SIGHUP, as after nohup', most: 1 },
  nicer: { about: 'added to the nice value of the program where the guard cannot be urgent', most: 19 },
  reportFd: { about: 'takes the report', most: 2 ** 20 },
  controlFd: { about: 'gives the lines of CONTROL', most: 2 ** 20 },
  signalsFd: { about: 'gives signals for the program: PassedSignal', most: 2 ** 20 },
  notifyWords: { about: 'of the words after --, how many are the command that is run after a stop', most: 4096 },
  readingsFd: { about: "a recorder's shared memory", most: 2 ** 20 },
} as const satisfies Readonly<Record<string, Rule>>;

/** Arguments that are texts. `load`: drop, compact, both or nothing. `target`: pid:N, cgroup:/PATH or system. `replay`: a file. */
export const PROGRAM_TEXTS = ['load', 'target', 'replay'] as const;

/** The rules of the guard of a probe, a thread: the fields of one object. */
export const PROBE_RULES = {
  floorBytes: { about: 'trips when MemAvailable is below; 0: not watched' },
  pressureFullPercent: { about: 'trips when PSI full is at or above, and dangerous; 0: not watched' },
  pressureNearBytes: { about: 'it is dangerous if MemAvailable is below' },
  progressBytes: { about: 'or if MemAvailable has not fallen by this' },
  noProgressMs: { about: 'while a call was running for so long' },
  pressureForMs: { about: 'or if it stayed above for so long' },
  readAvailableMs: { about: 'how old MemAvailable may be far from the floor' },
  readNearBytes: { about: 'near: MemFree is less than this above the floor' },
  readPressureMs: { about: 'how old PSI may be' },
  readListsMs: { about: "how old the free pages in the processors' lists may be" },
  readListsNearMs: { about: 'the same below the floor' },
  freeEveryMs: { about: 'between two attempts to free what the work holds' },
  intervalMs: { about: 'between two readings', least: 1, most: 1000 },
  parent: { about: 'trips when the parent process is not this one; 0: not watched', most: 2 ** 30 },
  exitAfterMs: { about: 'ends the process so long after a trip that did not help; 0: never' },
  reportFd: { about: 'takes a line of each trip; -1: none', least: -1, most: 2 ** 20 },
} as const satisfies Readonly<Record<string, Rule>>;

const EVIDENCE = {
  available: 'number',
  free: 'number',
  freeInCpuLists: 'number',
  slope: 'number',
  secondsToFloor: 'number',
  pressureFull: 'number',
  freeBlocks: 'number',
  swapFree: 'number',
  groupBytes: 'number',
  groupGpuBytes: 'number',
  othersGrewBytes: 'number',
} as const;

const REASONS = ['floor-near', 'below-kill', 'low-and-stalled', 'stalled', 'loading', 'requested'] as const;

/**
 * Lines of the report of `umaprobe-guard`: JSON objects with `event`, the line's name. A `number` that is not known and a
 * `text` that is not there are null; a `count` and a `name` never are. `at`: ISO 8601, UTC.
 */
export const PROGRAM_LINES = {
  started: {
    at: 'name',
    pid: 'number',
    processGroup: 'number',
    cgroup: 'text',
    locked: 'text',
    priority: ['realtime', 'cgroup', 'nice', 'usual'],
    available: 'number',
    free: 'number',
  },
  reading: { at: 'name', available: 'number', free: 'number', groupBytes: 'number', groupGpuBytes: 'number' },
  action: {
    at: 'name',
    action: ['warn', 'term', 'kill', 'drop', 'compact'],
    reason: REASONS,
    dryRun: 'boolean',
    target: 'text',
    failure: 'text',
    evidence: EVIDENCE,
  },
  /** End of the load phase, as far as the guard saw it. */
  loaded: { at: 'name', because: ['plateau', 'limit'] },
  /** The command that is run after a stop has ended. `late`: it was killed, because it took too long. */
  notified: { at: 'name', exitCode: 'count', late: 'boolean' },
  /** The program, or its target, could not be started or found. */
  failed: { code: 'name', message: 'text' },
  /** The program has ended, and processes that it started run on. `guard`: the process that guards them. */
  left: { at: 'name', pids: 'json', guard: 'number' },
  /** `actions`: the last ones again, as lines are dropped while nobody reads. */
  ended: {
    at: 'name',
    exitCode: 'number',
    signal: 'number',
    stopped: 'boolean',
    lowestAvailable: 'number',
    lowestFree: 'number',
    highestPressure: 'number',
    peakGroupBytes: 'number',
    peakGroupGpuBytes: 'number',
    readings: 'count',
    cpuMs: 'count',
    beforeAvailable: 'number',
    beforeFree: 'number',
    actions: 'json',
  },
} as const;

/** First words of lines to `umaprobe-guard`. */
export const CONTROL = ['loaded', 'targets', 'stop'] as const;

/**
 * A trip of the guard of a probe: what it read, when (CLOCK_MONOTONIC, as process.hrtime), and the time from that reading
 * until no allocation, touch or verification was running, and until all blocks were freed; null: not yet. It is a line on
 * `reportFd` when the guard trips, and one when it ends the process (`left`).
 */
export const PROBE_TRIP = {
  reason: ['floor', 'pressure', 'parent'],
  available: 'number',
  freeInCpuLists: 'number',
  pressureFull: 'number',
  stoppedAfterMs: 'number',
  freedAfterMs: 'number',
  atMs: 'count',
  left: 'boolean',
} as const;

/** Exit code of a process that a guard has stopped: "stopped" of the command line. */
export const EXIT_STOPPED = 6;

export type ProgramRules = Record<keyof typeof PROGRAM_RULES, number>;
export type ProbeRules = Record<keyof typeof PROBE_RULES, number>;

interface Values {
  number: number | null;
  count: number;
  text: string | null;
  name: string;
  boolean: boolean;
  json: unknown;
}
type Value<Kind> = Kind extends keyof Values
  ? Values[Kind]
  : Kind extends readonly (infer Word)[]
    ? Word
    : FieldsOf<Kind>;
export type FieldsOf<Table> = { -readonly [Name in keyof Table]: Value<Table[Name]> };

/** The fields of a line, without its name. */
export type ProgramLine<Event extends keyof typeof PROGRAM_LINES> = FieldsOf<(typeof PROGRAM_LINES)[Event]>;
export type ProbeTrip = FieldsOf<typeof PROBE_TRIP>;
