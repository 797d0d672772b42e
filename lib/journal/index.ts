/**
 * What survives the power button: each step is on disk before it is made, and the next run names the one during which the
 * machine vanished. JSON Lines, one record a line, checksummed, each with its boot id.
 */

import { randomBytes } from 'node:crypto';
import { closeSync, ftruncateSync, writeSync } from 'node:fs';
import { debuglog } from 'node:util';
import { syncFolder } from '../base/atomic-file.ts';
import { UmaError } from '../base/errors.ts';
import { isAlive, thisProcess } from '../host/process.ts';
import type { UnfinishedRun } from '../types/index.ts';
import { COMPACT_ABOVE, kept, replaceJournal } from './compact.ts';
import { fileError, journalError, type OpenedFile, openJournalFile, readAll } from './file.ts';
import { type BeginRecord, type EndRecord, type JournalCommand, type ParsedJournal, parseJournal } from './records.ts';
import { liveRun, type Run, runsOf, unfinishedRun } from './runs.ts';
import { journalWriter } from './writer.ts';

const log = debuglog('umaprobe');

export { defaultJournal } from './file.ts';

export interface JournalHeading {
  command: JournalCommand;
  device: number;
  simulated: string | null;
  bootId: string | null;
}

/** A journal in which a run of ours has begun. */
export interface Journal {
  readonly path: string;
  /** For the child: it appends to the same open file. */
  readonly fd: number;
  /** Of this run. */
  readonly run: string;
  readonly unfinished: UnfinishedRun | null;
  /** What was found and mended on the way: a torn tail. */
  readonly notes: readonly string[];
  /**
   * The child's process is gone, and `how`: the run is no longer a live one, and a step without a result stays so. Does not
   * throw.
   */
  gone(how: string): void;
  close(): void;
}

/**
 * Opens the journal and begins a run in it.
 *
 * @throws UmaError `ERR_UMA_JOURNAL`: not a file that may be written, or its middle is torn (nothing is changed then).
 *   `ERR_UMA_BUSY`: another run is going on in it.
 */
export function openJournal(given: string, heading: JournalHeading): Journal {
  let file = openJournalFile(given);
  try {
    const before = parsed(file);
    refuseWhileLive(file.path, runsOf(before.records), heading.bootId);
    const notes: string[] = [];
    mend(file, before, notes);
    const begin = beginRecord(heading);
    journalWriter(file.fd, file.path).commit(begin);
    if (file.bytes.length === 0) syncFolder(file.path);

    // Two that start at once have both seen nobody. Records lie in the order in which they were appended, so both now
    // see the same first one, and the other gives way.
    const now = parsed({ path: file.path, bytes: readAll(file.fd) });
    const runs = runsOf(now.records);
    const others = runs.filter((run) => run.begin.run !== begin.run);
    try {
      refuseWhileLive(
        file.path,
        runs.slice(
          0,
          runs.findIndex((run) => run.begin.run === begin.run),
        ),
        heading.bootId,
      );
    } catch (error) {
      journalWriter(file.fd, file.path).append(endRecord(begin, 'gave way'));
      throw error;
    }
    if (now.goodBytes > COMPACT_ABOVE) {
      replaceJournal(file.path, kept(now.records, runs, begin.run));
      const old = file.fd;
      file = openJournalFile(file.path);
      closeSync(old);
    }
    return new OpenJournal(file, begin, unfinishedRun(others, heading, isAlive), notes);
  } catch (error) {
    closeSync(file.fd);
    throw error instanceof UmaError ? error : fileError(file.path, error, 'nothing was allocated');
  }
}

class OpenJournal implements Journal {
  readonly path: string;
  readonly fd: number;
  readonly run: string;
  readonly unfinished: UnfinishedRun | null;
  readonly notes: readonly string[];
  readonly #begin: BeginRecord;

  constructor(file: OpenedFile, begin: BeginRecord, unfinished: UnfinishedRun | null, notes: readonly string[]) {
    this.path = file.path;
    this.fd = file.fd;
    this.run = begin.run;
    this.unfinished = unfinished;
    this.notes = notes;
    this.#begin = begin;
  }

  gone(how: string): void {
    const { run, bootId } = this.#begin;
    try {
      journalWriter(this.fd, this.path).commit({ type: 'gone', run, at: new Date().toISOString(), bootId, how });
    } catch (error) {
      // A disk that is full by now must not take away what was found. Nothing is risked any more.
      log('the end of run %s is not in the journal: %s', run, (error as Error).message);
    }
  }

  close(): void {
    closeSync(this.fd);
  }
}

function parsed({ bytes, path }: Pick<OpenedFile, 'bytes' | 'path'>): ParsedJournal {
  const found = parseJournal(bytes);
  if (typeof found === 'string') throw journalError(path, `${found}; the file is as it was`, 'TORN');
  return found;
}

/** Cuts a torn tail off; only now, when all that is before it is known to be whole. */
function mend({ fd, path }: OpenedFile, { goodBytes, tornBytes, unended }: ParsedJournal, notes: string[]): void {
  if (tornBytes > 0) {
    ftruncateSync(fd, goodBytes);
    notes.push(`${tornBytes} bytes of a record that was cut off were dropped from the end of ${path}`);
  }
  // That record is whole, but the next one must begin on a line of its own.
  if (unended) writeSync(fd, '\n');
}

function refuseWhileLive(path: string, runs: readonly Run[], bootId: string | null): void {
  const live = liveRun(runs, bootId, isAlive);
  if (live === null) return;
  const { at, command } = live.begin;
  const pid = live.writers.find(isAlive)?.pid ?? live.begin.pid;
  throw new UmaError('ERR_UMA_BUSY', {
    source: 'umaprobe',
    call: `journal ${path}`,
    status: null,
    name: 'BUSY',
    message: `a ${command} of process ${pid}, begun ${at}, is going on; two at a time would take each other's memory. Wait for it, or end it`,
  });
}

function beginRecord({ bootId, command, device, simulated }: JournalHeading): BeginRecord {
  return {
    type: 'begin',
    run: randomBytes(6).toString('hex'),
    at: new Date().toISOString(),
    bootId,
    ...thisProcess(),
    command,
    simulated,
    device,
  };
}

function endRecord({ run, bootId }: BeginRecord, state: string): EndRecord {
  return { type: 'end', run, at: new Date().toISOString(), bootId, state };
}
