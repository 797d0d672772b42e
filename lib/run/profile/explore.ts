/** Goes through a plan: predicts each configuration, refuses it or has it run, and keeps the rows. */

import { formatBoth, formatBytes } from '../../base/format.ts';
import type { ProfileParameters, ProfilePrediction, ProfileState, ProfileTrial } from '../../types/index.ts';
import { isAtOrAbove, type NextTrial, type Plan, parametersText, sameParameters } from './plan.ts';
import { type Measured, predict } from './predict.ts';

/** A trial to be run. */
export interface Order {
  number: number;
  params: ProfileParameters;
  /** Predicted peak of the whole machine. */
  prediction: ProfilePrediction | null;
}

/** The profile ends before its plan does. */
export interface Halt {
  state: 'not-clean' | 'aborted';
  /** A sentence. */
  reason: string;
  /** Facts of the trial; null: it did not begin. */
  trial: ProfileTrial | null;
}

export interface Exploration {
  plan: Plan;
  limitBytes: number;
  /** Trials of an earlier run, which are not repeated. */
  known: readonly ProfileTrial[];
  /** Configurations in which the machine vanished. */
  fatal: readonly { params: ProfileParameters; at: string }[];
  /** Memory in use on the machine now, in bytes. */
  inUse(): Promise<number>;
  run(order: Order): Promise<ProfileTrial | Halt>;
  /** Called with each row, in their order. */
  onTrial(trial: ProfileTrial): void | Promise<void>;
}

export interface Explored {
  trials: ProfileTrial[];
  /** Parameters with which the plan ended, or the largest that were safe until then. */
  safe: ProfileParameters | null;
  state: ProfileState;
  /** A sentence. */
  reason: string;
}

export async function explore(exploration: Exploration): Promise<Explored> {
  const { onTrial, plan } = exploration;
  const trials: ProfileTrial[] = [];
  let safe: ProfileParameters | null = null;
  let step = plan.next();
  while (!step.done) {
    const candidate = step.value;
    const done = await visit(candidate, trials, exploration);
    const halt = 'reason' in done ? done : null;
    const trial = 'reason' in done ? done.trial : done;
    if (trial !== null) {
      trials.push(trial);
      await onTrial(trial);
    }
    if (halt !== null) return { trials, safe, state: halt.state, reason: halt.reason };
    const isSafe = trial?.status === 'ok';
    if (isSafe && !candidate.probe) safe = candidate.params;
    step = plan.next(isSafe);
  }
  const state = step.value === null ? 'failed' : 'complete';
  return { trials, safe: step.value, state, reason: endReason(trials) };
}

async function visit(
  { params, raised }: NextTrial,
  trials: readonly ProfileTrial[],
  exploration: Exploration,
): Promise<ProfileTrial | Halt> {
  const { fatal, inUse, known, limitBytes, run } = exploration;
  const number = trials.length + 1;
  const earlier = known.find((trial) => sameParameters(trial.params, params));
  if (earlier !== undefined && REUSED.has(earlier.status))
    return { ...rowOf(params, number, null), ...earlier, number, earlier: true };
  const rows = [...known.filter((row) => !trials.some((trial) => sameParameters(trial.params, row.params))), ...trials];
  const own = raised === null ? null : predict(params, raised, rows.flatMap(measuredOf));
  const prediction = own === null ? null : onTopOf(await inUse(), own);
  const vanished = fatal.find((one) => isAtOrAbove(params, one.params));
  const notRun = (status: ProfileTrial['status'], notes: string): ProfileTrial => ({
    ...rowOf(params, number, prediction),
    status,
    notes,
  });
  if (vanished !== undefined && sameParameters(params, vanished.params))
    return notRun('machine-lost', `the machine vanished in this trial at ${vanished.at}; it is not run again`);
  if (vanished !== undefined)
    return notRun('skipped', `at or above ${parametersText(vanished.params)}, in which the machine vanished`);
  const unsafe = rows.find(({ params: other, status }) => UNSAFE.has(status) && isAtOrAbove(params, other));
  if (unsafe !== undefined)
    return notRun('skipped', `at or above ${parametersText(unsafe.params)}, which ${DID[unsafe.status]}`);
  const refusal = refusalOf(prediction, limitBytes);
  if (refusal !== null) return notRun('refused', refusal);
  return run({ number, params, prediction });
}

/** Rows of an earlier run that stand for themselves: the others are tried again. */
const REUSED: ReadonlySet<ProfileTrial['status']> = new Set(['ok', 'over', 'stopped', 'out-of-memory', 'failed']);

/** Memory that the trial added to that in use before. A stopped trial says only that it takes more than that. */
function measuredOf({ params, peakBytes, phases, status }: ProfileTrial): Measured[] {
  if (peakBytes === null || (status !== 'ok' && status !== 'over')) return [];
  return [{ params, bytes: Math.max(0, peakBytes - (phases.start ?? 0)) }];
}

function onTopOf(inUse: number, own: ProfilePrediction): ProfilePrediction {
  const { bytes, high, low } = own;
  return { ...own, bytes: inUse + bytes, low: inUse + low, high: inUse + high };
}

/** Share of the limit: a trial that may stay below it is run; the guard stops it if it does not. */
const SURE_SHARE = 0.8;

/** Returns why the configuration is not run; null: it is. */
function refusalOf(prediction: ProfilePrediction | null, limitBytes: number): string | null {
  if (prediction === null || prediction.bytes <= limitBytes) return null;
  if (prediction.low <= limitBytes * (prediction.trials === 1 ? 1 : SURE_SHARE)) return null;
  return `the predicted peak of ${formatBoth(prediction.bytes)} is above the limit of ${formatBytes(limitBytes)}`;
}

const UNSAFE: ReadonlySet<ProfileTrial['status']> = new Set(['over', 'stopped', 'out-of-memory', 'failed']);
const DID: Readonly<Record<ProfileTrial['status'], string>> = {
  ok: 'was safe',
  over: 'passed the limit',
  stopped: 'was stopped',
  failed: 'failed',
  refused: 'was refused by its prediction and not run',
  skipped: 'was not run',
  'out-of-memory': 'ran out of memory',
  'machine-lost': 'was fatal',
  aborted: 'was aborted',
};

/** A row of a trial that did not run. */
export function rowOf(params: ProfileParameters, number: number, prediction: ProfilePrediction | null): ProfileTrial {
  return {
    number,
    params,
    status: 'refused',
    predictedBytes: prediction?.bytes ?? null,
    prediction,
    peakBytes: null,
    headroomBytes: null,
    gpu: null,
    groupBytes: null,
    groupGpuBytes: null,
    phases: { start: null, plateau: null, peak: null, after: null },
    metric: null,
    exitCode: null,
    signal: null,
    startedAt: null,
    durationMs: 0,
    earlier: false,
    notes: null,
  };
}

function endReason(trials: readonly ProfileTrial[]): string {
  const last = trials.findLast(({ status }) => status !== 'ok');
  if (last === undefined) return 'Every configuration was safe.';
  // The guard's text is a sentence.
  const why = last.notes === null ? '' : `: ${last.notes.replace(/\.$/, '')}`;
  return `${parametersText(last.params)} ${DID[last.status]}${why}.`;
}
