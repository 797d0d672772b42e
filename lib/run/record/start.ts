/** Starts the recorder: the threads of the addon, and what JavaScript adds to them: marks, processes, kernel messages. */

import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode, UmaError } from '../../base/errors.ts';
import { reason } from '../../base/facts.ts';
import { MiB } from '../../base/format.ts';
import { defined } from '../../base/objects.ts';
import type { CheckedOf } from '../../base/options.ts';
import { hostFloor } from '../../core/memory/floor.ts';
import { defaultDevice } from '../../core/memory/headroom.ts';
import { gpuText, ownGpus } from '../../core/memory/own-memory.ts';
import { native } from '../../core/native/binding.ts';
import type { NativeBinding } from '../../core/native/contract.ts';
import { processes } from '../../core/processes/index.ts';
import { snapshot } from '../../core/snapshot/index.ts';
import type { Recorder, RecorderState, Snapshot } from '../../types/index.ts';
import { folderOf } from './folder.ts';
import { followGpus } from './follow-gpus.ts';
import type { SegmentHeader } from './format.ts';
import { followKernelMessages } from './kernel-messages.ts';
import { RecorderFolder } from './live.ts';
import { listenForMarks, type MarkAnswer, type MarkServer } from './marks.ts';
import { checkMark, type RECORD } from './options.ts';
import { LISTED } from './process-series.ts';

type CheckedRecorderOptions = CheckedOf<typeof RECORD>;

/** Segments of a ring: losing the oldest loses a sixteenth. Each has 1 to 16 MiB. */
const SEGMENTS = 16;
/** Time between two writes. A power cut loses less than a second, with the frame that is not finished. */
const SYNC_MS = 800;
/** Time that a disk gets to take a mark: the process that set it waits for 2 s. */
const MARK_MS = 1500;
/** Time that a disk gets for the last write. */
const LAST_WRITE_MS = 10_000;

/** The last stop(): the next recorder of this environment begins behind it. */
let stopping: Promise<unknown> | null = null;

export async function startRecorder(settings: CheckedRecorderOptions): Promise<Recorder> {
  await stopping;
  const binding = native();
  const { signal } = settings;
  const reading = await snapshot({ memGetInfo: 'never', ...defined({ signal }) });
  const own = RecorderFolder.open(folderOf(settings.folder, reading.simulated));
  const segmentBytes = Math.min(16 * MiB, Math.max(MiB, Math.floor(settings.maxSizeBytes / SEGMENTS)));
  const failure = binding.recorderStart({
    intervalUs: settings.intervalMs * 1000,
    frameUs: settings.frameMs * 1000,
    syncUs: SYNC_MS * 1000,
    folder: own.folder.path,
    folderFd: own.folder.fd,
    lockFd: own.lock,
    segmentBytes,
    totalBytes: settings.maxSizeBytes,
    header: JSON.stringify(headerOf(reading, settings)).slice(0, -1),
  });
  if (failure !== null) {
    own.close();
    throw new UmaError(failure.name === 'EBUSY' ? 'ERR_UMA_BUSY' : errorCode(failure), failure);
  }
  own.sign();
  return new RunningRecorder(binding, own, settings).begin(reading);
}

function headerOf(
  { bootId, devices, driver, host, hostName, libraries, simulated }: Snapshot,
  { frameMs, intervalMs }: CheckedRecorderOptions,
): Omit<SegmentHeader, 'segment' | 'bootUs' | 'wallUs'> {
  const device = defaultDevice({ devices });
  const model = device?.memoryModel ?? null;
  return {
    schema: 'umaprobe/record-segment/1',
    session: randomUUID(),
    bootId,
    simulated,
    hostName,
    architecture: process.arch,
    deviceName: device?.name ?? null,
    driverVersion: driver.version ?? libraries.nvml.driverVersion,
    memoryModel: model,
    total: host.total,
    swapTotal: host.swapTotal,
    floor: hostFloor(host.total).bytes,
    intervalMs,
    frameMs,
  };
}

class RunningRecorder implements Recorder {
  readonly #binding: NativeBinding;
  readonly #own: RecorderFolder;
  readonly #settings: CheckedRecorderOptions;
  readonly #ending = new AbortController();
  #notes = 0;
  #marks: MarkServer = { path: null, problem: null, close: () => undefined };
  #stopped: Promise<RecorderState> | null = null;
  /** State after the end: the addon may speak of the next recorder. */
  #last: RecorderState | null = null;

  constructor(binding: NativeBinding, own: RecorderFolder, settings: CheckedRecorderOptions) {
    this.#binding = binding;
    this.#own = own;
    this.#settings = settings;
  }

  async begin(machine: Snapshot): Promise<this> {
    const simulated = machine.simulated !== null;
    const { processesMs, signal } = this.#settings;
    this.#marks = await listenForMarks(this.#own.folder, (text, pid) => this.#durableMark(text, pid));
    if (signal?.aborted) await this.stop('aborted');
    signal?.throwIfAborted();
    signal?.addEventListener('abort', () => void this.stop('aborted'), { once: true, signal: this.#ending.signal });
    if (processesMs > 0) void this.#followProcesses(processesMs);
    const { gpus, unread } = ownGpus(machine);
    void followGpus(gpus, (note) => this.#note(note), this.#ending.signal);
    for (const gpu of unread)
      this.#note({ type: 'problem', text: `${gpuText(gpu)}: what its own memory holds is not known: ${gpu.why}` });
    // The log of this kernel says nothing about a simulated machine.
    if (!simulated)
      void followKernelMessages(
        (text) => this.#note({ type: 'kernel', text }),
        (text) => this.#note({ type: 'problem', text }),
        this.#ending.signal,
      );
    return this;
  }

  state(): RecorderState {
    if (this.#last !== null) return this.#last;
    const { failure, writtenNotes: _, ...state } = this.#binding.recorderRead();
    return {
      ...state,
      folder: this.#own.folder.path,
      socket: this.#marks.path,
      socketProblem: this.#marks.problem,
      failure: failure === null ? null : reason(failure),
    };
  }

  mark(text: string): void {
    this.#note({ type: 'mark', text: checkMark(text), pid: null });
  }

  stop(reasonText = 'stopped'): Promise<RecorderState> {
    this.#stopped ??= this.#stop(reasonText);
    stopping = this.#stopped;
    return this.#stopped;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #stop(reasonText: string): Promise<RecorderState> {
    this.#note({ type: 'end', reason: reasonText, shuttingDown: isShuttingDown() });
    this.#ending.abort();
    this.#binding.recorderStop();
    this.#marks.close();
    const until = performance.now() + LAST_WRITE_MS;
    while (this.#binding.recorderRead().running && performance.now() < until) await sleep(5);
    this.#last = this.state();
    this.#own.close();
    return this.#last;
  }

  #note(note: object): boolean {
    if (this.#ending.signal.aborted) return false;
    const taken = this.#binding.recorderNote(JSON.stringify(note));
    if (taken) this.#notes++;
    return taken;
  }

  /** Answers when the mark is on disk: the process that set it may freeze the machine next. */
  async #durableMark(text: string, pid: number | null): Promise<MarkAnswer> {
    if (!this.#note({ type: 'mark', text, pid })) return 'refused';
    const number = this.#notes;
    const until = performance.now() + MARK_MS;
    while (this.#binding.recorderRead().writtenNotes < number) {
      if (performance.now() > until) return 'timeout';
      await sleep(1);
    }
    return 'ok';
  }

  async #followProcesses(everyMs: number): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        const report = await processes({ pssLimitMs: 200, signal });
        const top = report.processes
          .filter(({ held }) => held !== null)
          .slice(0, LISTED)
          .map(({ gpuBytes, held, name, pid }) => ({ pid, name, held, gpuBytes }));
        this.#note({ type: 'processes', processes: top });
      } catch (error) {
        if (!signal.aborted) this.#note({ type: 'problem', text: String(error) });
      }
      await sleep(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}

/** systemd makes these files when a shutdown begins. */
function isShuttingDown(): boolean {
  return existsSync('/run/nologin') || existsSync('/run/systemd/shutdown/scheduled');
}
