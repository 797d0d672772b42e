/** A launch: fit, prepare, guard, record, receipt. */

import { UmaError } from '../../base/errors.ts';
import { LIMITS } from '../../base/limits.ts';
import { defined } from '../../base/objects.ts';
import { endedBy } from '../../base/running.ts';
import { prepare } from '../../core/cache/index.ts';
import { checkBelowTotal, hostFloor } from '../../core/memory/floor.ts';
import { snapshot } from '../../core/snapshot/index.ts';
import { memoryNow, memorySettled } from '../../core/snapshot/settled.ts';
import { openModel } from '../../models/estimate/index.ts';
import type {
  GuardReport,
  LaunchEvent,
  LaunchPlan,
  LaunchRank,
  LaunchReport,
  LaunchStep,
  PrepareReport,
  Recorder,
  Snapshot,
} from '../../types/index.ts';
import { assertWatchable, guard } from '../guard/index.ts';
import type { GuardOptions } from '../guard/options.ts';
import { folderOf, makeFolder } from '../record/folder.ts';
import { mark, record, whyNotRecorded } from '../record/index.ts';
import { type FoundExtra, findExtras } from './extras.ts';
import { LaunchGpus } from './gpus.ts';
import { judge, type LaunchAnswer, type Load } from './judge.ts';
import { locate } from './locate.ts';
import { checkLaunchOptions, type LaunchOptions, type LaunchSettings } from './options.ts';
import { isRefusal, needsRoom, notTaken, planOf } from './plan.ts';
import { askRanks, otherHosts } from './ranks.ts';
import { type ReceiptInput, receiptOf, Series } from './receipt.ts';
import { type Recognised, recognise } from './recognise.ts';
import { baseName } from './unwrapped.ts';

export async function runLaunch(options: LaunchOptions, ends: AbortSignal): Promise<LaunchReport> {
  const settings = endedBy(ends, checkLaunchOptions(options));
  const { dryRun, onEvent, signal } = settings;
  const started = performance.now();
  // A context of this process would hold memory for as long as the program runs.
  const machine = await snapshot({ memGetInfo: 'needed', ...defined({ signal }) });
  checkBelowTotal('floorBytes (--floor)', settings.floorBytes, machine.host.total);
  // The plan of a launch that no guard could follow is no plan.
  assertWatchable(machine.host.available);
  const launched = new Launch(settings, machine);
  let plan = await launched.plan(machine);
  await onEvent({ type: 'plan', at: now(), plan });
  const end = (rest: Pick<LaunchReport, 'outcome' | 'summary'> & Partial<LaunchReport>): LaunchReport => ({
    schema: 'umaprobe/launch/1',
    at: machine.at,
    simulated: machine.simulated,
    prepare: null,
    guard: null,
    record: null,
    receipt: null,
    ...rest,
    plan: {
      ...plan,
      steps: launched
        .steps(plan)
        .map((step) => (rest.outcome === 'refused' && step.state === 'planned' ? notTaken(step) : step)),
    },
    durationMs: performance.now() - started,
  });
  if (dryRun) return end({ outcome: 'planned', summary: plan.summary });
  if (settings.folder !== undefined && settings.record) checkNamed(folderOf(settings.folder, machine.simulated));
  if (plan.ranks.some(({ refuses }) => refuses) && !settings.anyway)
    return end({ outcome: 'refused', summary: `Not started. ${plan.summary}` });
  const refused = (): boolean => isRefusal(plan.verdict, plan.fit) && !settings.anyway;
  const makesRoom = plan.steps.some(({ state, step }) => step === 'prepare' && state === 'planned');
  const isAskedAgain = needsRoom(plan.verdict, plan.fit) && makesRoom;
  if (refused() && !isAskedAgain) return end({ outcome: 'refused', summary: `Not started. ${plan.summary}` });
  const prepared = await launched.prepare(plan);
  if (isAskedAgain) plan = await launched.plan(await snapshot({ memGetInfo: 'needed' }));
  if (refused()) return end({ outcome: 'refused', summary: `Not started. ${plan.summary}`, prepare: prepared });
  signal?.throwIfAborted();
  return end({ prepare: prepared, ...(await launched.run(plan)) });
}

/** A path that cannot be a folder is a mistake. A disk that is full, or not this user's, is no reason not to start. */
function checkNamed(folder: string): void {
  try {
    makeFolder(folder);
  } catch (error) {
    if (!(error instanceof UmaError) || error.nativeName === 'ENOTDIR') throw error;
  }
}

function now(): string {
  return new Date().toISOString();
}

interface Loaded {
  load: Load;
  found: FoundExtra[];
  recognised: Recognised['command'];
}

class Launch {
  readonly #settings: LaunchSettings;
  readonly #machine: Snapshot;
  readonly #recognised: Recognised;
  readonly #done = new Map<LaunchStep['step'], LaunchStep>();
  #answer: LaunchAnswer | null = null;
  #loaded: Loaded | null = null;
  #ranks: LaunchRank[] | null = null;

  constructor(settings: LaunchSettings, machine: Snapshot) {
    this.#settings = settings;
    this.#machine = machine;
    this.#recognised = withOptions(recognise(settings.command, settings.env ?? process.env), settings);
  }

  /** Steps of the plan as they are by now. */
  steps({ steps }: LaunchPlan): LaunchStep[] {
    return steps.map((step) => this.#done.get(step.step) ?? step);
  }

  async plan(machine: Snapshot): Promise<LaunchPlan> {
    const { anyway, command, floorBytes, folder, record: isRecorded } = this.#settings;
    this.#loaded ??= await this.#load();
    const { found, load, recognised: read } = this.#loaded;
    const answer = await judge(load, read, machine, found);
    this.#ranks ??= await this.#askRanks(this.#loaded);
    const recorded = isRecorded ? folderOf(folder, machine.simulated) : null;
    this.#answer = answer;
    const recognised = {
      ...read,
      assumed: [...read.assumed, ...answer.assumed],
      unread: [...read.unread, ...answer.unread],
    };
    return planOf({
      command,
      recognised,
      ...answer,
      machine,
      floor: hostFloor(machine.host.total, floorBytes ?? null),
      prepare: this.#settings.prepare,
      anyway,
      ranks: this.#ranks,
      record: recorded === null ? null : { folder: recorded, problem: await whyNotRecorded(recorded) },
    });
  }

  /** The other machines, asked once. */
  async #askRanks({ found, load, recognised }: Loaded): Promise<LaunchRank[]> {
    const { hosts, onEvent, signal } = this.#settings;
    const others = otherHosts(hosts, recognised);
    if (others.length === 0) return [];
    await onEvent({ type: 'hosts', at: now(), hosts: others });
    return askRanks(others, recognised, (machine) => judge(load, recognised, machine, found), signal);
  }

  /** Opens each model of the load once; returns the load, and the command with facts learned about its models. */
  async #load(): Promise<Loaded> {
    const { bytes, env = process.env, model, signal } = this.#settings;
    const { command, stores } = this.#recognised;
    const nothing = (why: string): Loaded => ({ load: { kind: 'nothing', why }, found: [], recognised: command });
    if (bytes !== undefined) return { ...nothing(''), load: { kind: 'bytes', bytes } };
    if (model === undefined && command.model === null) return nothing('');
    const located = model === undefined ? await locate(command, stores, env) : model;
    if (located === null)
      return nothing(`The model ${command.model} is not on this machine, so its size is not known.`);
    const reading = defined({ signal });
    const { found, unread } = await findExtras(command, stores, env, reading);
    const recognised = { ...command, unread: [...command.unread, ...unread] };
    try {
      return { load: { kind: 'model', model: await openModel(located, reading) }, found, recognised };
    } catch (error) {
      // A model that the caller named must be right; one of the command line may be downloaded first.
      if (model !== undefined || !isModelError(error)) throw error;
      return { ...nothing(`${error.message}.`), recognised };
    }
  }

  async prepare(plan: LaunchPlan): Promise<PrepareReport | null> {
    const { floorBytes, signal, sudo } = this.#settings;
    const room = this.#answer?.room ?? null;
    const step = plan.steps.find((candidate) => candidate.step === 'prepare');
    if (room === null || step?.state !== 'planned') return null;
    const report = await prepare({
      bytes: room,
      sudo,
      ...defined({ floorBytes, signal }),
    });
    await this.#finish({
      step: 'prepare',
      state: report.verdict === 'enough' ? 'complete' : 'failed',
      text: `${report.verdict}: ${report.reason}`,
    });
    return report;
  }

  async run(plan: LaunchPlan): Promise<Pick<LaunchReport, 'outcome' | 'summary' | 'guard' | 'record' | 'receipt'>> {
    const { command, onEvent, signal } = this.#settings;
    // The arguments are left out: keys of servers are among them.
    const recorder = await this.#record(`launch: ${baseName(command[0] ?? '')}`.slice(0, LIMITS.markLength.max));
    const gpus = await LaunchGpus.watch(this.#machine);
    const series = new Series();
    let loadedAt: string | null = null;
    const listen = (event: LaunchEvent): void | Promise<void> => {
      if (event.type === 'reading' && event.available !== null)
        series.add({ at: event.at, available: event.available, free: event.free ?? 0 });
      if (event.type === 'loaded') {
        loadedAt = event.at;
        recorder.mark('launch: loaded');
      }
      return onEvent(event);
    };
    try {
      const report = await guard({
        ...this.#settings.guard,
        ...this.#environment(),
        ...this.#loads(),
        command,
        onEvent: listen,
        ...defined({ signal }),
      });
      await gpus.stop();
      recorder.mark(`launch: ${report.outcome}`);
      await memorySettled({ goal: null, limitMs: SETTLED_MS });
      const after = await readMemory();
      await this.#finish({
        step: 'guard',
        state: report.outcome === 'stopped' ? 'failed' : 'complete',
        text: endOf(report),
      });
      const receipt = this.#receipt(plan, report, { series, loadedAt, after, gpus: await gpus.receipt() });
      const recorded = await recorder.stop();
      if (recorded !== null && recorded.failure !== null && this.#done.get('record')?.state === 'complete')
        await this.#finish({
          step: 'record',
          state: 'failed',
          text: `Not everything was recorded: ${recorded.failure}.`,
        });
      return {
        outcome: report.outcome,
        summary: endOf(report),
        guard: report,
        record: recorded,
        receipt,
      };
    } finally {
      await gpus.stop();
      await recorder.stop();
    }
  }

  /** Environment with MAX_JOBS, if the start needs one and has none. */
  #environment(): Pick<GuardOptions, 'env'> {
    const jobs = this.#answer?.jobs ?? null;
    if (jobs === null || !jobs.isSet) return {};
    return { env: { ...(this.#settings.env ?? process.env), MAX_JOBS: String(jobs.count) } };
  }

  /** The least that it will hold. Ollama's client loads nothing itself. */
  #loads(): Pick<GuardOptions, 'loadBytes'> {
    const fit = this.#answer?.fit ?? null;
    const isModel = this.#loaded?.load.kind === 'model' && this.#recognised.command.program !== 'ollama';
    return isModel && fit !== null && fit.verdict !== 'unknown' ? { loadBytes: Math.floor(fit.serving.low) } : {};
  }

  #receipt(
    { expected, flags, recognised }: LaunchPlan,
    { before, floor, lowest, outcome, peak }: GuardReport,
    { series, ...rest }: Pick<ReceiptInput, 'loadedAt' | 'after' | 'gpus'> & { series: Series },
  ): LaunchReport['receipt'] {
    if (before.available === null || lowest.available === null) return null;
    return receiptOf({
      before: { available: before.available, free: before.free ?? 0 },
      readings: series.readings(),
      lowest: lowest.available,
      total: this.#machine.host.total,
      floor,
      own: { bytes: peak.groupBytes, gpuBytes: peak.groupGpuBytes },
      ...rest,
      expected,
      command: recognised,
      isStopped: outcome === 'stopped',
      planned: flags,
    });
  }

  /** @param begun the first mark. */
  async #record(begun: string): Promise<Recording> {
    const { folder, record: isRecorded } = this.#settings;
    if (!isRecorded) return notRecorded(null);
    try {
      const recorder = await record(defined({ folder }));
      await this.#finish({ step: 'record', state: 'complete', text: `Recorded to ${recorder.state().folder}.` });
      recorder.mark(begun);
      return recordingOf(recorder);
    } catch (error) {
      if (!(error instanceof UmaError)) throw error;
      if (error.code === 'ERR_UMA_BUSY' && (await isMarked(begun, folder))) {
        await this.#finish({ step: 'record', state: 'skipped', text: 'A recorder runs already; it gets the marks.' });
        return { ...notRecorded(null), mark: (text) => void isMarked(text, folder) };
      }
      await this.#finish({ step: 'record', state: 'failed', text: `Nothing is recorded: ${error.message}.` });
      return notRecorded({ folder: null, failure: error.message });
    }
  }

  async #finish(step: LaunchStep): Promise<void> {
    this.#done.set(step.step, step);
    await this.#settings.onEvent({ type: 'step', at: now(), step });
  }
}

/** Options of the caller go before the command line. */
function withOptions({ command, stores }: Recognised, options: LaunchSettings): Recognised {
  const { bytes, model, program, use, utilization } = options;
  const { context, sequences, ...rest } = use ?? {};
  const answered = new Set<string>([
    ...(program === undefined && model === undefined && bytes === undefined ? [] : ['program']),
    ...(model === undefined && bytes === undefined ? [] : ['model']),
  ]);
  const isSized = bytes !== undefined;
  return {
    stores,
    command: {
      ...command,
      ...defined({ program }),
      ...(typeof model === 'string' ? { model, modelFile: null } : {}),
      ...(context === undefined ? {} : { context, contextIsGiven: true, contextIsShared: false }),
      ...defined({ sequences }),
      use: { ...command.use, ...rest },
      utilization: utilizationOf(program ?? command.program, utilization ?? command.utilization),
      unread: isSized ? [] : command.unread.filter(({ part }) => !answered.has(part)),
    },
  };
}

/** Only vLLM and SGLang have one. */
function utilizationOf(program: string | null, utilization: number | null): number | null {
  return program === 'vllm' || program === 'sglang' ? utilization : null;
}

function isModelError(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const code: unknown = Reflect.get(error, 'code');
  return code === 'ERR_INVALID_ARG_VALUE' || code === 'ERR_UMA_MODEL' || code === 'ERR_UMA_PERMISSION';
}

function endOf({ exitCode, outcome, sentence, signal }: GuardReport): string {
  if (outcome === 'stopped') return sentence ?? 'The guard stopped it.';
  if (outcome === 'aborted') return 'It was stopped as its caller wished.';
  return signal === null ? `It ended with exit code ${exitCode ?? 'unknown'}.` : `${signal} ended it.`;
}

interface Recording {
  mark(text: string): void;
  stop(): Promise<LaunchReport['record']>;
}

function notRecorded(record: LaunchReport['record']): Recording {
  return { mark: () => undefined, stop: async () => record };
}

function recordingOf(recorder: Recorder): Recording {
  return {
    mark: (text) => recorder.mark(text),
    stop: async () => {
      const { failure, folder } = await recorder.stop('launch ended');
      return { folder, failure };
    },
  };
}

/** True if the recorder that runs in the folder has taken it. */
async function isMarked(text: string, folder: string | undefined): Promise<boolean> {
  return mark(text, defined({ folder })).then(
    () => true,
    () => false,
  );
}

/** Memory comes back for a while after a process has ended: the driver gives it back in its own time. */
const SETTLED_MS = 5000;

async function readMemory(): Promise<{ available: number; free: number } | null> {
  const { available, free } = await memoryNow().catch(() => ({ available: null, free: null }));
  return available === null || free === null ? null : { available, free };
}
