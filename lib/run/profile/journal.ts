/** The journal on earlier runs of the same experiment: their trials, and the configuration that was fatal. */

import { createHash } from 'node:crypto';
import { journalError } from '../../core/journal/index.ts';
import type { BeginRecord, JournalRecord, TrialRecord } from '../../core/journal/records.ts';
import type { ProfileParameters, ProfilePool, ProfileTrial, ProfileUnfinished } from '../../types/index.ts';
import { parametersText, sameParameters } from './plan.ts';

/** Facts that make two runs the same experiment: their trials may be compared. */
export interface Experiment {
  command: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  /** Templates by name. */
  templates: Readonly<Record<string, string>>;
  /** Parameters in their order, or the bisection. */
  plan: unknown;
  limitBytes: number;
  /** Pool of the limit. */
  pool: ProfilePool['name'];
}

export function experimentOf(experiment: Experiment): { id: string; title: string } {
  const { command, env, limitBytes, plan, pool, templates } = experiment;
  const sorted = (record: object) => Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify([
    command,
    sorted(env),
    sorted(templates),
    plan,
    limitBytes,
    ...(pool === 'host' ? [] : [pool]),
  ]);
  return { id: createHash('sha256').update(text).digest('hex').slice(0, 16), title: command.join(' ').slice(0, 200) };
}

export interface Earlier {
  /** Trials of the last run, and of those that it went on with: the newest of each configuration. */
  trials: ProfileTrial[];
  /** Configurations in which the machine vanished, in any earlier run. */
  fatal: { params: ProfileParameters; at: string }[];
  /** The last run, if it did not end. */
  unfinished: ProfileUnfinished | null;
}

interface EarlierRun {
  begin: BeginRecord;
  trials: ProfileTrial[];
  /** Trial without an end, and whether its command had ended. */
  open: (TrialRecord & { after: boolean }) | null;
  ended: boolean;
}

/** null: the journal has no run of this experiment. */
export function earlierRuns(
  records: readonly JournalRecord[],
  id: string,
  machine: { bootId: string | null; simulated: string | null },
): Earlier | null {
  const runs = runsOf(records).filter(
    ({ begin, ended, trials }) =>
      begin.experiment?.id === id &&
      begin.simulated === machine.simulated &&
      // A run that ended before its first trial found nothing to resume, or could not start its command.
      !(ended && trials.length === 0),
  );
  const last = runs.at(-1);
  if (last === undefined) return null;
  // A run that was not resumed begins anew: trials before it do not count.
  const start = runs.findLastIndex(({ begin }) => begin.experiment?.resumes === false);
  const trials = new Map<string, ProfileTrial>();
  for (const trial of runs.slice(Math.max(0, start)).flatMap((run) => run.trials))
    trials.set(parametersText(trial.params), trial);
  const vanished = (bootId: string | null) => bootId === null || bootId !== machine.bootId;
  const fatal = runs.flatMap(({ open }) =>
    open !== null && vanished(open.bootId) ? [{ params: open.params, at: open.at }] : [],
  );
  return {
    trials: [...trials.values()].filter(({ params }) => !fatal.some((other) => sameParameters(params, other.params))),
    fatal,
    unfinished: last.ended ? null : unfinishedOf(last, vanished(last.begin.bootId)),
  };
}

function runsOf(records: readonly JournalRecord[]): EarlierRun[] {
  const runs = new Map<string, EarlierRun>();
  for (const record of records) {
    if (record.type === 'begin') runs.set(record.run, { begin: record, trials: [], open: null, ended: false });
    const run = runs.get(record.run);
    if (run === undefined) continue;
    if (record.type === 'trial') run.open = { ...record, after: false };
    else if (record.type === 'trial-after' && run.open !== null) run.open.after = true;
    else if (record.type === 'trial-end') {
      run.open = null;
      run.trials.push(record.trial);
    } else if (record.type === 'end') {
      // A trial without an end was cut short by an error, which the machine has survived.
      run.open = null;
      run.ended = true;
    }
  }
  return [...runs.values()];
}

function unfinishedOf({ begin, open, trials }: EarlierRun, otherBoot: boolean): ProfileUnfinished {
  const subject = otherBoot ? 'the machine vanished' : 'the profile vanished (the machine was not restarted)';
  const boot = `boot ${begin.bootId ?? 'unknown'}`;
  if (open === null) {
    const sentence = `${subject} between trials, after ${trials.length} of them (${begin.at}, ${boot})`;
    return { at: begin.at, otherBoot, params: null, sentence };
  }
  const when = open.after ? 'after its command had ended, before the memory was back' : 'while its command ran';
  return {
    at: open.at,
    otherBoot,
    params: open.params,
    sentence: `${subject} in trial ${open.number}, ${parametersText(open.params)}, ${when} (${open.at}, ${boot})`,
  };
}

/** The journal belongs to another experiment, or has none that could be resumed. */
export function nothingToResume(path: string, records: readonly JournalRecord[], id: string): Error {
  const other = records.findLast(
    (record): record is BeginRecord =>
      record.type === 'begin' && record.experiment !== undefined && record.experiment.id !== id,
  );
  const what =
    other?.experiment === undefined
      ? 'it has no run of a profile on this machine'
      : `it is of another experiment (${other.experiment.title}), or that one had other values, another limit or other templates`;
  return journalError(path, `there is nothing to resume: ${what}. Leave resume (--resume) out to begin anew`, 'OTHER');
}
