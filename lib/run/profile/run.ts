/** A profile from its clean slate to its report: the journal, the recording, the trials and the memory between them. */

import { dirname, join } from 'node:path';
import { formatBoth, GB } from '../../base/format.ts';
import { endedBy } from '../../base/running.ts';
import { startTicks } from '../../core/host/process.ts';
import { defaultJournal, type Journal, openJournal } from '../../core/journal/index.ts';
import { hostFloor } from '../../core/memory/floor.ts';
import type { ProfilePool, ProfileReport, ProfileStart, ProfileTrial, Recorder, Snapshot } from '../../types/index.ts';
import { makeFolder } from '../record/folder.ts';
import { record } from '../record/index.ts';
import { cleanReading, memoryBack, poolBack } from './clean-slate.ts';
import { type Explored, explore, type Halt, type Order } from './explore.ts';
import { type Earlier, earlierRuns, experimentOf, nothingToResume } from './journal.ts';
import { type CheckedProfileOptions, checkProfileOptions, type ProfileOptions } from './options.ts';
import { bisection, parametersText, variations } from './plan.ts';
import { inUseNow, type Pool, poolOf } from './pool.ts';
import { curvesOf, safeOf } from './report.ts';
import { markText, runTrial } from './trial.ts';

/** A training repository for the Spark stops here, 19 GB before the end (mission.md S3). */
const DEFAULT_LIMIT = 100 * GB;

export async function runProfile(given: ProfileOptions, ends: AbortSignal): Promise<ProfileReport> {
  const options = endedBy(ends, checkProfileOptions(given));
  const started = performance.now();
  const at = new Date().toISOString();
  const { reading, others } = await cleanReading(options.waitForOthers ? options.waitMs : 0, options.signal);
  const { bootId, simulated } = reading;
  const pool = poolOf(reading, options.limitPool);
  const bounds = boundsOf(options, reading, pool);
  const journal = journalOf(options, reading, bounds.limit.bytes, pool.facts.name);
  try {
    const { recorder, recording, problem } = await startRecording(options, simulated);
    try {
      const start: ProfileStart = {
        at,
        simulated,
        bootId,
        command: [...options.command],
        parameters: parametersOf(options),
        bisection: options.bisect,
        ...bounds,
        baselineBytes: (await pool.used()) ?? 0,
        others,
        unfinished: journal.earlier?.unfinished ?? null,
        journal: journal.open?.path ?? null,
        journalNotes: [...(journal.open?.notes ?? []), ...(problem === null ? [] : [problem])],
        recording,
      };
      await options.onEvent({ type: 'started', report: start });
      const explored = await runTrials(options, start, journal, recorder, pool);
      journal.open?.commit({ type: 'end', state: explored.state });
      return reportOf(start, explored, performance.now() - started);
    } catch (error) {
      // The command could not be started, or the caller threw: the machine has survived it.
      journal.open?.commit({ type: 'end', state: `failed: ${messageOf(error)}`.slice(0, 500) });
      throw error;
    } finally {
      await recorder?.stop('profile');
    }
  } finally {
    journal.open?.close();
  }
}

/** MemTotal, floor and limit. */
function boundsOf(
  { floorBytes, limitBytes }: CheckedProfileOptions,
  { host }: Snapshot,
  { facts: pool }: Pool,
): Pick<ProfileReport, 'total' | 'pool' | 'floor' | 'limit'> {
  const { total } = host;
  const floor = hostFloor(total, floorBytes);
  if (pool.name === 'gpu') {
    const isRequested = limitBytes !== null && limitBytes <= pool.total;
    const whose = pool.gpus.length === 1 ? "of the GPU's own memory" : "of each GPU's own memory";
    const limit = isRequested
      ? { bytes: limitBytes, from: `as requested, ${whose}` }
      : { bytes: pool.total, from: `all ${whose}${pool.gpus.length === 1 ? '' : ', of the smallest'}` };
    return { total, pool, floor, limit };
  }
  const most = total - floor.bytes;
  const wanted = limitBytes ?? DEFAULT_LIMIT;
  const from = `${limitBytes === null ? 'the default' : 'as requested'}, of the host's memory`;
  const limit =
    wanted <= most
      ? { bytes: wanted, from }
      : { bytes: most, from: `MemTotal less the floor of ${formatBoth(floor.bytes)}` };
  return { total, pool, floor, limit };
}

function parametersOf({ bisect, vary }: CheckedProfileOptions): ProfileReport['parameters'] {
  return bisect === null ? [...vary] : [{ name: bisect.name, values: [bisect.from, bisect.to] }];
}

interface ProfileJournal {
  /** null: none is kept. */
  open: Journal | null;
  earlier: Earlier | null;
  /** Earlier trials that are not repeated. */
  known: ProfileTrial[];
}

function journalOf(
  options: CheckedProfileOptions,
  { bootId, simulated }: Snapshot,
  limitBytes: number,
  pool: ProfilePool['name'],
): ProfileJournal {
  const { bisect, command, env, resume, templates, vary } = options;
  if (options.journal === false) return { open: null, earlier: null, known: [] };
  const path = options.journal ?? join(stateFolder(simulated), fileName('profile', simulated, '.jsonl'));
  const texts = Object.fromEntries(templates);
  const { id, title } = experimentOf({ command, env, templates: texts, plan: bisect ?? vary, limitBytes, pool });
  const open = openJournal(path, {
    command: 'profile',
    device: null,
    simulated,
    bootId,
    experiment: { id, title, resumes: resume },
  });
  const earlier = earlierRuns(open.earlier, id, { bootId, simulated });
  if (resume && earlier === null) {
    open.commit({ type: 'end', state: 'nothing to resume' });
    open.close();
    throw nothingToResume(open.path, open.earlier, id);
  }
  return { open, earlier, known: resume ? (earlier?.trials ?? []) : [] };
}

function stateFolder(simulated: string | null): string {
  return dirname(defaultJournal(simulated));
}

function fileName(name: string, simulated: string | null, ending: string): string {
  return simulated === null
    ? `${name}${ending}`
    : `${name}-simulated-${encodeURIComponent(simulated).slice(0, 100)}${ending}`;
}

interface Recording {
  recorder: Recorder | null;
  recording: string | null;
  /** The reason for no recording, as a sentence; null: there is one, or none was wanted. */
  problem: string | null;
}

/** The trials go on without a recording, unless its folder was named: the guard keeps the facts of the report. */
async function startRecording(options: CheckedProfileOptions, simulated: string | null): Promise<Recording> {
  if (!options.record) return { recorder: null, recording: null, problem: null };
  if (options.folder !== undefined) makeFolder(options.folder);
  const folder = options.folder ?? join(stateFolder(simulated), fileName('profile-record', simulated, ''));
  try {
    return { recorder: await record({ folder }), recording: folder, problem: null };
  } catch (error) {
    return { recorder: null, recording: null, problem: `the trials are not recorded: ${messageOf(error)}` };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function runTrials(
  options: CheckedProfileOptions,
  start: ProfileStart,
  { earlier, known, open }: ProfileJournal,
  recorder: Recorder | null,
  pool: Pool,
): Promise<Explored> {
  const { onEvent, signal } = options;
  const { baselineBytes, floor, limit, total } = start;
  const hostBaseline = await inUseNow(total);
  const mark = (text: string): void => recorder?.mark(text.slice(0, 1000));

  async function run(order: Order): Promise<ProfileTrial | Halt> {
    const { number, params, prediction } = order;
    if (signal?.aborted === true) return ABORTED;
    open?.commit({ type: 'trial', number, params });
    mark(markText(number, params));
    await onEvent({ type: 'trial-started', number, params, prediction });
    const onProcess = (pid: number): void =>
      open?.commit({ type: 'trial-process', number, pid, startTicks: startTicks(pid) });
    const trial = await runTrial(order, options, {
      total,
      pool,
      limitBytes: limit.bytes,
      floorBytes: floor.bytes,
      onEvent,
      onProcess,
    });
    open?.commit({ type: 'trial-after', number });
    mark(`trial ${number} ended: ${trial.status}`);
    const notBack = (await memoryBack(hostBaseline, total, options)) ?? (await poolBack(pool, options));
    const done: ProfileTrial = {
      ...trial,
      phases: { ...trial.phases, after: await pool.used() },
      notes: notBack === null ? trial.notes : [trial.notes, notBack].filter((note) => note !== null).join('; '),
    };
    open?.commit({ type: 'trial-end', trial: done });
    if (done.status === 'aborted') return { ...ABORTED, trial: done };
    return notBack === null
      ? done
      : { state: 'not-clean', reason: `After ${parametersText(params)}: ${notBack}.`, trial: done };
  }

  return explore({
    plan: options.bisect === null ? variations(options.vary) : bisection(options.bisect),
    limitBytes: limit.bytes,
    known,
    fatal: earlier?.fatal ?? [],
    inUse: async () => (await pool.used()) ?? baselineBytes,
    run,
    onTrial: (trial) => onEvent({ type: 'trial', trial }),
  });
}

const ABORTED: Halt = { state: 'aborted', reason: 'It was stopped.', trial: null };

function reportOf(start: ProfileStart, explored: Explored, durationMs: number): ProfileReport {
  const { reason: why, state, trials } = explored;
  const safe = safeOf(explored.safe, trials, start.limit.bytes);
  const names = start.parameters.map(({ name }) => name);
  return {
    schema: 'umaprobe/profile/1',
    ...start,
    state,
    reason: why,
    trials,
    safe,
    curves: curvesOf(names, trials, safe?.params ?? null),
    durationMs,
  };
}
