/** Recordings: what happened to the memory of a machine, on disk before the power button. */

import type { MemoryModel } from './device.ts';
import type { ResultWord } from './results.ts';
import type { Amount, Integer, Natural, OfMachine, Timestamp } from './scalars.ts';

/** State of a running recorder. */
export interface RecorderState {
  running: boolean;
  folder: string;
  /** Socket that takes marks: `umaprobe mark`. null: it could not be opened, and `socketProblem` says why. */
  socket: string | null;
  socketProblem: string | null;
  /** Number of readings of MemFree. */
  samples: number;
  /** Number of frames, counted by the thread that writes. */
  frames: number;
  /** Number of frames, counted, that were not written because the disk was slow for a minute. */
  lostFrames: number;
  /** Bytes written to segments, counted. */
  writtenBytes: number;
  /** Number of segments, counted, that were removed before their time because the disk is full. */
  removedSegments: number;
  /** CPU time of the thread that reads, by clock_gettime(2). */
  cpuMs: number;
  /** Lowest MemFree so far, in bytes. */
  lowestFree: number | null;
  /** Lowest MemAvailable so far, in bytes. */
  lowestAvailable: number | null;
  /** The reason why the last write failed; null: it is on disk. */
  failure: string | null;
}

/** A recorder that runs in this process, on threads of its own. */
export interface Recorder {
  /** Writing so far, and whether it still runs. */
  state(): RecorderState;
  /** Adds a mark. It is on disk within milliseconds. Its text has at most 4096 characters. */
  mark(text: string): void;
  /** Writes the rest and ends. The second call waits for the first. */
  stop(reason?: string): Promise<RecorderState>;
  /** `stop()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** End of a session. `complete`: the recorder was stopped. `lost`: it died, and the machine went on. `unknown`: the boot id is not known. */
export type SessionEnd = Extract<
  ResultWord,
  'running' | 'complete' | 'shut-down' | 'machine-lost' | 'lost' | 'unknown'
>;

/** A text that a program set at a moment of a recording. */
export interface RecordedMark {
  at: Timestamp;
  text: string;
  /** Process id that the program gives with it; null: the recorder itself. */
  pid: Amount | null;
}

/** One of the largest processes at one time. Sizes in bytes, by `processes()`: /proc/<pid> and NVML. */
export interface RecordedProcess {
  /** Process id. */
  pid: Amount;
  name: string | null;
  /** The `held` of `processes()`, in bytes. */
  held: Amount;
  gpuBytes: Amount | null;
}

/** The largest processes at one time. */
export interface RecordedProcesses {
  at: Timestamp;
  processes: RecordedProcess[];
}

/** Memory of one process over a session, in bytes by the lists of `processes()`: /proc/<pid> and NVML. */
export interface RecordedProcessCourse {
  /** Process id. */
  pid: Amount;
  name: string | null;
  /** Highest amount in bytes. */
  highestHeld: Amount;
  /** Highest amount in bytes; null: the driver did not say. */
  highestGpuBytes: Amount | null;
  /** One value for each time of `ProcessSeries.at`, in bytes; null: it was not among the largest, or had ended. */
  held: (Amount | null)[];
  /** GPU memory beside `held`; null also if the driver did not say. */
  gpuBytes: (Amount | null)[];
}

/** The largest processes of a session over time, largest first, at most 12. */
export interface ProcessSeries {
  /** Times of the lists, ISO 8601, UTC, at most 500: several lists become one, with the highest value of each process. */
  at: Timestamp[];
  processes: RecordedProcessCourse[];
}

/** A process that held memory of a GPU: its process id and bytes, as NVML lists them. */
export interface RecordedGpuHolder {
  /** Process id. */
  pid: Natural;
  name: string | null;
  /** GPU memory in bytes; null: the driver did not say. */
  gpuBytes: Natural | null;
}

/** A GPU with memory of its own over a session, by NVML. Sizes in bytes. */
export interface RecordedGpu {
  /** Index in a snapshot. */
  index: Natural;
  name: string | null;
  /** Memory that programs can use. */
  total: Natural;
  /** The least that was left, and who held the most then, at most 4, the largest first; empty also where NVML did not say. */
  lowestFree: { at: Timestamp; bytes: Integer; holders: RecordedGpuHolder[] };
  /** Times of `used`, ISO 8601, UTC, oldest first, at most 500. */
  at: Timestamp[];
  /** The most that was in use about each time. */
  used: Natural[];
}

/**
 * A process that held more in each part of a long time: perhaps a leak. Bytes and process id by the lists of
 * `processes()`, the rate calculated from them.
 */
export interface RecordedGrowth {
  /** Process id. */
  pid: Amount;
  name: string | null;
  /** The memory that grows: `held` or `gpuBytes` of `RecordedProcess`. */
  memory: 'host' | 'gpu';
  /** `bytes` divided by the time between `from` and `to`. */
  bytesPerHour: Amount;
  /** Growth between `from` and `to`, in bytes. */
  bytes: Amount;
  /** Times at which it was listed first and last, ISO 8601, UTC; at least 45 min apart. */
  from: Timestamp;
  to: Timestamp;
  /**
   * Time after the end of the recording at which the memory above the floor is used up at this rate, in milliseconds.
   * null: the process had ended, or the memory is a discrete GPU's, or MemAvailable was not read.
   */
  usedUpInMs: Amount | null;
}

/** A sentence of the recorder, or a message of the kernel. */
export interface RecordedNote {
  at: Timestamp;
  text: string;
}

/** A fall of MemFree of at least 256 MiB that came back within 10 s. */
export interface Transient {
  /** Its start. */
  at: Timestamp;
  /** Time from its start until the memory was back, by the recorder's clock. */
  durationMs: Amount;
  /** Depth below the memory free before and after it, whichever was less, in bytes. */
  bytes: Amount;
  /** Lowest MemFree in it, in bytes. */
  lowestFree: Amount;
}

/** A stretch of at least 5 s in which MemFree stayed within 1 % of MemTotal. */
export interface Plateau {
  from: Timestamp;
  to: Timestamp;
  /** Mean MemFree, in bytes. */
  free: Amount;
}

/** The fastest change of MemFree over one second, in bytes per second. */
export interface FastestChange {
  at: Timestamp;
  bytesPerSecond: Amount;
}

/**
 * A bin of the series: the frames of a span. Bytes of /proc/meminfo, and shares from /proc/pressure/memory; null: not
 * read.
 */
export interface SeriesPoint {
  at: Timestamp;
  /** Length of the span, by the recorder's clock. */
  spanMs: Amount;
  free: Amount | null;
  lowestFree: Amount | null;
  available: Amount | null;
  lowestAvailable: Amount | null;
  swapUsed: Amount | null;
  /** Share of the span in which some, or all, tasks waited for memory, in percent. */
  somePercent: Amount | null;
  fullPercent: Amount | null;
}

/** The time from one start of a recorder to its end. */
export interface RecordedSession extends OfMachine {
  id: string;
  bootId: string | null;
  hostName: string;
  /** Architecture of the machine that recorded: "arm64", "x64". */
  architecture: string;
  /** The GPU and its driver at the start; null: none. */
  deviceName: string | null;
  driverVersion: string | null;
  memoryModel: MemoryModel | null;
  /** MemTotal, in bytes. */
  total: Amount;
  /** SwapTotal, in bytes; null: not read. */
  swapTotal: Amount | null;
  /** Floor of the host by the rule of `stress` for this MemTotal, in bytes. */
  floor: Amount;
  /** Time between two readings of MemFree, given by the caller of `record()`. */
  intervalMs: Amount;
  startedAt: Timestamp;
  /** Last reading. */
  lastAt: Timestamp;
  /** `lastAt` less `startedAt`, by the recorder's clock; of a part that was asked for, its length. */
  durationMs: Amount;
  end: SessionEnd;
  /** The recorder's reason for its end: "SIGTERM"; null: nothing. */
  endReason: string | null;
  /** Number of frames that were read, counted. */
  frames: Amount;
  /** Number of frames that the recorder could not write, counted by it. */
  lostFrames: Amount;
  /** Lowest MemFree, in bytes; null: not read. */
  lowestFree: { at: Timestamp; bytes: Amount } | null;
  /** Lowest MemAvailable, in bytes; null: not read. */
  lowestAvailable: { at: Timestamp; bytes: Amount } | null;
  /** Time with MemAvailable below the floor, in milliseconds. */
  belowFloorMs: Amount;
  fastestFall: FastestChange | null;
  fastestRise: FastestChange | null;
  /** Deepest first, at most 20. */
  transients: Transient[];
  /** Longest first, at most 20. */
  plateaus: Plateau[];
  /** Oldest first, at most the newest 10,000. */
  marks: RecordedMark[];
  /** Last list of processes; null: none was written. */
  processes: RecordedProcesses | null;
  /**
   * The largest processes when MemAvailable was lowest: of the lists before and after it, the list with more memory, as
   * its `at` says. null: there is none.
   */
  lowestProcesses: RecordedProcesses | null;
  processSeries: ProcessSeries;
  /** GPUs with memory of their own. */
  gpus: RecordedGpu[];
  /** Processes that grew steadily, fastest first. */
  growth: RecordedGrowth[];
  /** Kernel messages about memory and the GPU, oldest first, at most the newest 200. */
  kernelMessages: RecordedNote[];
  /** Failures of the recorder: a full disk, a kernel log that it may not read. Oldest first, at most the newest 50. */
  notes: RecordedNote[];
  /**
   * Number of entries left out of these lists: earlier marks, messages and notes, and transients that were less deep.
   */
  leftOut: { marks: Amount; kernelMessages: Amount; notes: Amount; transients: Amount };
  /** The last 10 s, frame by frame. */
  lastSeconds: SeriesPoint[];
  series: SeriesPoint[];
}

/** Bytes of a segment that are no record, counted in its file. */
export interface RecordProblem {
  segment: string;
  /** Offset of the first byte. */
  offset: Amount;
  bytes: Amount;
  message: string;
}

/** A recording: its sessions, the oldest first, and bytes that are not a record. */
export interface RecordReport {
  schema: 'umaprobe/record/1';
  /** Time of this reading, ISO 8601, UTC. */
  at: Timestamp;
  folder: string;
  /** Oldest first. */
  sessions: RecordedSession[];
  problems: RecordProblem[];
  /** Duration of the reading by the monotonic clock. */
  durationMs: Amount;
}
