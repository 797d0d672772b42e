/** The readings behind the page: taken while somebody looks, rendered once, and sent to all readers. */

import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { hostFloor } from '../core/memory/floor.ts';
import { followProcesses } from '../core/processes/follow.ts';
import { type LiveMachine, livePage, piecesOf, summaryOf } from '../show/render/html/live.ts';
import type { Assets } from '../show/render/html/page.ts';
import { LEVELS } from '../show/render/text/snapshot-header.ts';
import type {
  LivePage,
  LiveReading,
  ProcessesReport,
  RecordedProcesses,
  SeriesPoint,
  Snapshot,
} from '../types/index.ts';
import type { Machines, Round } from './machines.ts';
import { eventOf, Readers } from './stream.ts';

export interface LiveSettings {
  config: LivePage;
  machines: Machines;
  assets: Assets;
  /** True: the processes of this machine are read, too; other machines send only a snapshot. */
  own: boolean;
  /** True: command lines are shown. */
  argv: boolean;
  deadlineMs: number;
  signal: AbortSignal;
}

/** Processes whose course a page draws. */
const COURSES = 12;

export class Live {
  readonly #settings: LiveSettings;
  readonly #readers = new Readers();
  #reading: Promise<void> | null = null;
  #last: { round: Round; atMs: number } | null = null;
  #processes: ProcessesReport | string | null = null;
  #loops = false;
  /** Pieces that readers have, by machine. */
  #sent: Record<string, string>[] = [];

  constructor(settings: LiveSettings) {
    this.#settings = settings;
    settings.signal.addEventListener('abort', () => this.#readers.close(), { once: true });
  }

  async page(): Promise<string> {
    const { assets, config } = this.#settings;
    await this.#fresh();
    return livePage(config, this.#machines(), this.#last?.round.summary ?? null, assets);
  }

  /** @returns false: there is no place for a reader. */
  join(response: ServerResponse): boolean {
    if (!this.#readers.add(response)) return false;
    if (this.#loops) this.#readers.sendTo(response, this.#everything());
    else void this.#loop();
    return true;
  }

  /** A reading that is no older than the interval. */
  async #fresh(): Promise<void> {
    const isFresh = this.#last !== null && performance.now() - this.#last.atMs < this.#settings.config.intervalMs;
    if (!isFresh) await this.#read();
  }

  /** A caller during a reading waits for that one. */
  #read(): Promise<void> {
    this.#reading ??= this.#settings.machines
      .read()
      .then((round) => {
        this.#last = { round, atMs: performance.now() };
      })
      .finally(() => {
        this.#reading = null;
      });
    return this.#reading;
  }

  async #loop(): Promise<void> {
    const { config, signal } = this.#settings;
    const nobodyLooks = new AbortController();
    this.#loops = true;
    this.#sent = [];
    await this.#follow(AbortSignal.any([signal, nobodyLooks.signal]));
    while (this.#readers.count > 0 && !signal.aborted) {
      const startedMs = performance.now();
      await this.#read();
      this.#readers.send(this.#news());
      const pause = Math.max(0, startedMs + config.intervalMs - performance.now());
      await sleep(pause, undefined, { signal, ref: false }).catch(() => undefined);
    }
    nobodyLooks.abort();
    // The next reader is not shown who held memory then.
    this.#processes = null;
    this.#loops = false;
  }

  /** Reads the processes until the signal; resolves after the first reading. */
  async #follow(signal: AbortSignal): Promise<void> {
    const { argv, deadlineMs, own } = this.#settings;
    if (!own) return;
    await followProcesses({ deadlineMs, signal, wanted: () => true }, (report) => {
      if (!signal.aborted) this.#processes = argv || typeof report === 'string' ? report : withoutCommands(report);
    });
  }

  #machines(): LiveMachine[] {
    return (this.#last?.round.machines ?? []).map((machine) => ({ machine, processes: this.#processes }));
  }

  /** Changes since the last time, for readers that have seen everything before. */
  #news(): Buffer {
    return this.#messages((index, name, text) => {
      const pieces = this.#sent[index] ?? {};
      this.#sent[index] = pieces;
      const isNew = pieces[name] !== text;
      pieces[name] = text;
      return isNew;
    });
  }

  #everything(): Buffer {
    return this.#messages(() => true);
  }

  #messages(wanted: (index: number, name: string, text: string) => boolean): Buffer {
    const { round, atMs } = this.#last ?? { round: { machines: [], summary: null }, atMs: 0 };
    const machines = this.#machines();
    const messages = machines.map((live, index) => {
      const pieces: Record<string, string> = {};
      for (const [name, { text }] of Object.entries(piecesOf(live))) if (wanted(index, name, text)) pieces[name] = text;
      return eventOf('machine', readingOf(live, index, performance.now() - atMs, pieces, this.#settings.config));
    });
    if (round.summary !== null) {
      const { text } = summaryOf(machines, round.summary);
      messages.push(eventOf('summary', { text }));
    }
    return Buffer.concat(messages);
  }
}

function readingOf(
  { machine, processes }: LiveMachine,
  index: number,
  sinceMs: number,
  pieces: Readonly<Record<string, string>>,
  { intervalMs }: LivePage,
): LiveReading {
  const { ageMs, snapshot } = machine;
  return {
    index,
    ageMs: Math.max(0, Math.round(sinceMs + (ageMs ?? 0))),
    label: snapshot === null ? 'UNKNOWN' : LEVELS[snapshot.judgement.level][0],
    pieces,
    floor: snapshot === null ? null : hostFloor(snapshot.host.total).bytes,
    swapTotal: snapshot?.host.swapTotal ?? null,
    point: snapshot === null ? null : pointOf(snapshot, intervalMs),
    processes: processes === null || typeof processes === 'string' ? null : largest(processes),
  };
}

/** A point as in a recording. Pressure is that of the last 10 s. */
function pointOf({ at, host, pressure }: Snapshot, spanMs: number): SeriesPoint {
  const { available, free, swapFree, swapTotal } = host;
  return {
    at,
    spanMs,
    free,
    lowestFree: free,
    available,
    lowestAvailable: available,
    swapUsed: swapTotal === null || swapFree === null ? null : swapTotal - swapFree,
    somePercent: pressure?.some.avg10 ?? null,
    fullPercent: pressure?.full.avg10 ?? null,
  };
}

function largest({ at, processes }: ProcessesReport): RecordedProcesses {
  return {
    at,
    processes: processes
      .flatMap(({ gpuBytes, held, name, pid }) => (held === null ? [] : [{ pid, name, held, gpuBytes }]))
      .slice(0, COURSES),
  };
}

/** Command lines may have tokens in them (CVE-2026-32596 of Glances). */
function withoutCommands(report: ProcessesReport): ProcessesReport {
  return { ...report, processes: report.processes.map((process) => ({ ...process, command: null })) };
}
