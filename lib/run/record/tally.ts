/** Facts of one session: its records are added one at a time, oldest first, and none of the frames is kept. */

import type {
  RecordedMark,
  RecordedNote,
  RecordedProcess,
  RecordedProcesses,
  RecordedSession,
} from '../../types/index.ts';
import { FastestChanges, isFree, Plateaus, Transients } from './changes.ts';
import type { Frame, Note, SegmentHeader } from './format.ts';
import { GpuTable, type NotedGpu } from './gpu-series.ts';
import { growthOf } from './growth.ts';
import { ProcessTable } from './process-series.ts';
import { Series } from './series.ts';

const LAST_SECONDS_US = 10_000_000;
/** Most entries of a list: the newest are kept. */
const MAX_MARKS = 10_000;
const MAX_MESSAGES = 200;
const MAX_NOTES = 50;
/** Frames of the last seconds: the shortest are 10 ms long. */
const MAX_LAST_FRAMES = 1000;

/** Moments of a session, in microseconds of CLOCK_BOOTTIME. */
export interface SessionSpan {
  /** Its first frame. */
  startUs: number;
  /** Its end. */
  endUs: number;
  /** The first moment that is asked for. */
  fromUs: number;
}

export class SessionTally {
  readonly #header: SegmentHeader;
  readonly #span: SessionSpan;
  readonly #fastest: FastestChanges;
  readonly #transients: Transients;
  readonly #plateaus: Plateaus;
  readonly #series: Series;
  readonly #processTable: ProcessTable;
  readonly #gpuTable: GpuTable;
  readonly #lastFrames = new Newest<Frame>(MAX_LAST_FRAMES);
  readonly #marks = new Newest<RecordedMark>(MAX_MARKS);
  readonly #messages = new Newest<RecordedNote>(MAX_MESSAGES);
  readonly #notes = new Newest<RecordedNote>(MAX_NOTES);
  readonly #lowestProcesses = new LowestProcesses();
  #lastProcesses: RecordedProcesses | null = null;
  #endNote: Record<string, unknown> | null = null;
  /** A recorder that runs writes on while it is read. */
  #endUs: number;
  #frames = 0;
  #lost = 0;
  #belowUs = 0;
  #lowestFree: { us: number; bytes: number } | null = null;
  #lowestAvailable: { us: number; bytes: number } | null = null;
  #lastAvailable: number | null = null;

  constructor(header: SegmentHeader, span: SessionSpan, points: number) {
    this.#header = header;
    this.#span = span;
    this.#endUs = span.endUs;
    const at = this.#at;
    const bins = { at, fromUs: Math.max(span.startUs, span.fromUs), toUs: span.endUs };
    this.#fastest = new FastestChanges(at);
    this.#transients = new Transients(at);
    this.#plateaus = new Plateaus(header.total, at);
    this.#series = new Series({ ...bins, points, swapTotal: header.swapTotal });
    this.#processTable = new ProcessTable(bins);
    this.#gpuTable = new GpuTable(bins);
  }

  /** Time of day of a moment: the clocks of the session's first segment. */
  readonly #at = (bootUs: number): string =>
    new Date((this.#header.wallUs + bootUs - this.#header.bootUs) / 1000).toISOString();

  add(record: Frame | Note): void {
    if (record.kind === 'note' && record.note.type === 'end') this.#endNote = record.note;
    if (record.bootUs < this.#span.fromUs) return;
    if (record.kind === 'frame') this.#addFrame(record);
    else this.#addNote(record);
  }

  #addFrame(frame: Frame): void {
    const { available, bootUs, durationUs, free, lost, lowestAtUs } = frame;
    this.#endUs = Math.max(this.#endUs, bootUs + durationUs);
    this.#frames++;
    this.#lost += lost;
    if (free !== null) this.#lowestFree = lower(this.#lowestFree, bootUs + lowestAtUs, free.lowest);
    if (available !== null) {
      this.#lastAvailable = available.last;
      const before = this.#lowestAvailable;
      this.#lowestAvailable = lower(before, bootUs, available.lowest);
      if (this.#lowestAvailable !== before) this.#lowestProcesses.atLowest();
      if (available.last < this.#header.floor) this.#belowUs += durationUs;
    }
    if (isFree(frame)) {
      this.#fastest.add(frame);
      this.#transients.add(frame);
      this.#plateaus.add(frame);
    }
    this.#series.add(frame);
    if (bootUs >= this.#span.endUs - LAST_SECONDS_US) this.#lastFrames.add(frame);
  }

  #addNote({ bootUs, note }: Note): void {
    const at = this.#at(bootUs);
    if (note.type === 'processes' && Array.isArray(note.processes)) {
      const processes = note.processes as RecordedProcess[];
      this.#lastProcesses = { at, processes };
      this.#lowestProcesses.add(this.#lastProcesses);
      this.#processTable.add(bootUs, processes);
    }
    if (note.type === 'gpus' && Array.isArray(note.gpus)) this.#gpuTable.add(bootUs, note.gpus as NotedGpu[]);
    if (typeof note.text !== 'string') return;
    const { text } = note;
    if (note.type === 'mark') this.#marks.add({ at, text, pid: typeof note.pid === 'number' ? note.pid : null });
    if (note.type === 'kernel') this.#messages.add({ at, text });
    if (note.type === 'problem') this.#notes.add({ at, text });
  }

  /** The recorder's note about its end; null: none. */
  get endNote(): Record<string, unknown> | null {
    return this.#endNote;
  }

  /** No record follows. */
  report(end: RecordedSession['end']): RecordedSession {
    const header = this.#header;
    const { fromUs, startUs } = this.#span;
    const endUs = this.#endUs;
    const at = this.#at;
    const lowest = (least: { us: number; bytes: number } | null) =>
      least === null ? null : { at: at(least.us), bytes: least.bytes };
    const processSeries = this.#processTable.list();
    const transients = this.#transients.list();
    const pool = {
      total: header.total,
      spare: this.#lastAvailable === null ? null : this.#lastAvailable - header.floor,
      unified: header.memoryModel === 'unified',
    };
    return {
      id: header.session,
      bootId: header.bootId,
      simulated: header.simulated,
      hostName: header.hostName,
      architecture: header.architecture,
      deviceName: header.deviceName,
      driverVersion: header.driverVersion,
      memoryModel: header.memoryModel,
      total: header.total,
      swapTotal: header.swapTotal,
      floor: header.floor,
      intervalMs: header.intervalMs,
      startedAt: at(startUs),
      lastAt: at(endUs),
      durationMs: this.#frames === 0 ? 0 : (endUs - Math.max(startUs, fromUs)) / 1000,
      end,
      endReason: typeof this.#endNote?.reason === 'string' ? this.#endNote.reason : null,
      frames: this.#frames,
      lostFrames: this.#lost,
      lowestFree: lowest(this.#lowestFree),
      lowestAvailable: lowest(this.#lowestAvailable),
      belowFloorMs: this.#belowUs / 1000,
      fastestFall: this.#fastest.fall,
      fastestRise: this.#fastest.rise,
      transients,
      plateaus: this.#plateaus.list(),
      marks: this.#marks.list,
      processes: this.#lastProcesses,
      lowestProcesses: this.#lowestProcesses.list,
      processSeries,
      gpus: this.#gpuTable.list(),
      growth: growthOf(processSeries, pool),
      kernelMessages: this.#messages.list,
      notes: this.#notes.list,
      leftOut: {
        marks: this.#marks.leftOut,
        kernelMessages: this.#messages.leftOut,
        notes: this.#notes.leftOut,
        transients: this.#transients.leftOut,
      },
      lastSeconds: this.#lastSeconds(),
      series: this.#series.list(),
    };
  }

  /** Frame by frame. */
  #lastSeconds(): RecordedSession['lastSeconds'] {
    const frames = this.#lastFrames.list;
    const [first] = frames;
    if (first === undefined) return [];
    const bins = { at: this.#at, fromUs: first.bootUs, toUs: this.#endUs, swapTotal: this.#header.swapTotal };
    const series = new Series({ ...bins, points: frames.length });
    for (const frame of frames) series.add(frame);
    return series.list();
  }
}

function lower(
  least: { us: number; bytes: number } | null,
  us: number,
  bytes: number,
): { us: number; bytes: number } | null {
  return least === null || bytes < least.bytes ? { us, bytes } : least;
}

/** The newest entries, and how many were before them. */
class Newest<Entry> {
  readonly list: Entry[] = [];
  leftOut = 0;
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  add(entry: Entry): void {
    this.list.push(entry);
    if (this.list.length <= this.#most) return;
    this.list.shift();
    this.leftOut++;
  }
}

/** Lists and lowest points are added in the order of time. */
class LowestProcesses {
  #last: RecordedProcesses | null = null;
  #before: RecordedProcesses | null = null;
  #after: RecordedProcesses | null = null;

  /** The next list. */
  add(list: RecordedProcesses): void {
    this.#last = list;
    this.#after ??= list;
  }

  /** Notes that less is available than ever before. */
  atLowest(): void {
    this.#before = this.#last;
    this.#after = null;
  }

  /** The list with more memory, before or after the lowest point: a program may have begun, or ended, in between. */
  get list(): RecordedProcesses | null {
    const [before, after] = [this.#before, this.#after];
    if (before === null || after === null) return before ?? after;
    return heldIn(after) > heldIn(before) ? after : before;
  }
}

function heldIn({ processes }: RecordedProcesses): number {
  return processes.reduce((sum, { gpuBytes, held }) => sum + held + (gpuBytes ?? 0), 0);
}
