/** The words for how things end: one for each meaning, in every document. */

/** The end of something. A document uses a part of these words, and its comment says what is special there. */
export type ResultWord =
  /** A dry run: it was not begun, and nothing was changed. */
  | 'planned'
  /** It was not begun, because it is not needed, of no use, or not permitted. */
  | 'skipped'
  /** It was not begun, because it would not have been safe, or was answered with a no. */
  | 'refused'
  /** It was not begun, because the device cannot do it. */
  | 'unsupported'
  /** It was not begun, because the run ended before it. */
  | 'not-reached'
  /** It is expected, and not there. */
  | 'missing'
  /** It goes on. */
  | 'running'
  /** It went well: it did what it is for, within its limits. */
  | 'ok'
  /** It was carried out to its end. Its findings stand beside it. */
  | 'complete'
  /** It was carried out to its end, but a part of it failed. */
  | 'incomplete'
  /** The program ended by itself, whatever its exit code. */
  | 'exited'
  /** It ended well, but took more memory than its limit. */
  | 'over'
  /** An allocation was refused for lack of memory. */
  | 'out-of-memory'
  /** The guard of the host's memory ended it, or the journal could not be written. */
  | 'stopped'
  /** The caller ended it. */
  | 'aborted'
  /** Its time limit was reached, or no answer came in time. */
  | 'timeout'
  /** A shutdown of the machine ended it. */
  | 'shut-down'
  /** Its process vanished, or no longer answered. */
  | 'lost'
  /** The machine vanished with it, without a shutdown: a freeze, the power button, a reset. */
  | 'machine-lost'
  /** The memory did not come back. */
  | 'not-clean'
  /** Anything else went wrong; the reason stands beside it. */
  | 'failed'
  | 'unknown';

/** End of a probe. */
export type RunState = Extract<ResultWord, 'complete' | 'aborted' | 'stopped' | 'timeout' | 'lost'>;

/** Result of one step of a probe. `refused`: the host would have fallen below its floor, or the device has not as much. */
export type StepState = Extract<
  ResultWord,
  'ok' | 'refused' | 'out-of-memory' | 'stopped' | 'failed' | 'aborted' | 'timeout' | 'lost' | 'not-reached'
>;

/** Result of one step of a plan. */
export type PlanState = Extract<ResultWord, 'planned' | 'complete' | 'skipped' | 'failed'>;

/** End of a program under the guard. `stopped`: the guard stopped it. */
export type ProgramEnd = Extract<ResultWord, 'exited' | 'stopped' | 'aborted'>;
