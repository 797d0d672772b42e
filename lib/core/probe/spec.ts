/** Arguments and result of `runProbe`. */

import type {
  AllocatorKind,
  DeviceSnapshot,
  ProbeGuardReport,
  ProbeHeader,
  ProbeStarted,
  RunState,
  Settled,
  Snapshot,
  UnfinishedRun,
} from '../../types/index.ts';
import type { CheckedProbeOptions } from './options.ts';

export type ProbeCommand = 'sweep' | 'layout' | 'stress';

/** The machine as the parent read it before anything was allocated. */
export interface Baseline {
  snapshot: Snapshot;
  device: DeviceSnapshot;
  /** Floor of this run; null: no floor applies. */
  floor: ProbeHeader['floor'];
  others: ProbeHeader['others'];
  /** Memory of the device that stays free for the others; null: none does. */
  share: ProbeStarted['share'];
  /** The header's scale. A loop measures real time; commands report simulated time while it runs. */
  timeScale: ProbeHeader['timeScale'];
  /** Repairs of the journal. */
  journalNotes: readonly string[];
  /** An earlier run of the same journal that did not end. */
  unfinished: UnfinishedRun | null;
}

export interface ProbeSpec<Request, Event> {
  command: ProbeCommand;
  /** Result of `checkProbeOptions`. */
  options: CheckedProbeOptions;
  /** Every kind that may be allocated: decides whether there is a floor, and whether free blocks of 2 MiB matter. */
  kinds: readonly AllocatorKind[];
  /** The requested share of the device's other users, null: the default. Absent: the command leaves them none. */
  share?: { requested: number | null };
  /** The loop's request, as plain JSON. Called after the preflight; may throw to refuse the run. */
  request(baseline: Baseline): Request;
  /** Called for each event of the loop. An error thrown here, or a rejection, ends the run; `runProbe` throws it. */
  onEvent(event: Event): void | Promise<void>;
}

export interface ProbeRun<Result> {
  /** Complete but for `schema` and the command's own fields. `durationMs` includes settling. */
  header: ProbeHeader;
  /**
   * End of the child.
   * - `complete`: the loop returned. It also returns after an abort, a timeout or a trip of the guard; its result says so.
   * - `aborted`, `timeout`: it did not return after it was asked to stop, and was killed.
   * - `lost`: it vanished, or was killed because it no longer answered.
   *
   * Only `complete` has a result; otherwise `result` is null, and the events are all there is.
   */
  end: Exclude<RunState, 'stopped'>;
  /** The cause in words; null: the loop returned. */
  reason: string | null;
  result: Result | null;
  guard: ProbeGuardReport | null;
  settled: Settled;
}
