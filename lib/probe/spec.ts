/** What a command asks of `runProbe`, and what it gets back. */

import type {
  AllocatorKind,
  DeviceSnapshot,
  GuardReport,
  ProbeHeader,
  Settled,
  Snapshot,
  UnfinishedRun,
} from '../types/index.ts';
import type { CheckedProbeOptions } from './options.ts';

export type ProbeCommand = 'sweep' | 'layout' | 'stress';

/** The machine as the parent found it before anything was allocated. */
export interface Baseline {
  snapshot: Snapshot;
  device: DeviceSnapshot;
  /** As decided: null where no floor applies. */
  floor: ProbeHeader['floor'];
  /** As in the header: what a loop measures is real time, and a command reports simulated time of it while it runs. */
  timeScale: ProbeHeader['timeScale'];
  /** An earlier run of the same journal that did not end. */
  unfinished: UnfinishedRun | null;
}

export interface ProbeSpec<Request, Event> {
  command: ProbeCommand;
  /** From `checkProbeOptions`. */
  options: CheckedProbeOptions;
  /** Every kind that may be allocated: decides whether there is a floor, and whether free blocks of 2 MiB matter. */
  kinds: readonly AllocatorKind[];
  /** What the child's loop is given, as plain JSON. Called once the machine is known and safe; may throw to refuse. */
  request(ground: Baseline): Request;
  /** For each event that the loop says. What it throws ends the run and is thrown by `runProbe`. */
  onEvent(event: Event): void;
}

/**
 * How the child came to its end.
 * - `done`: the loop returned. Where the caller aborted, time was over or the guard intervened it still returns; its
 *   result says so.
 * - `aborted`, `timeout`: it did not come to its end after being told, and was killed. `lost`: it vanished, or was killed
 *   because it no longer answered. Then `result` is null and what it said in events is all there is.
 */
export interface ProbeRun<Result> {
  /** Complete but for `schema` and the command's own fields. `durationMs` includes settling. */
  header: ProbeHeader;
  end: 'done' | 'aborted' | 'timeout' | 'lost';
  /** What ended it, in words; null: the loop came to its end. */
  reason: string | null;
  result: Result | null;
  guard: GuardReport | null;
  settled: Settled;
}

/** The parent of every probe is `runProbe` of parent.ts, which is one of these. */
export type RunProbe = <Request, Event, Result>(plan: ProbeSpec<Request, Event>) => Promise<ProbeRun<Result>>;
