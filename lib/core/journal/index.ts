/**
 * The journal, which survives the power button: each step is on disk before it allocates, so the next run can name the
 * step in which the machine vanished. Opens it, refuses two runs at once, and repairs a torn end.
 */

import { randomBytes } from 'node:crypto';
import { closeSync, ftruncateSync, writeSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { debuglog } from 'node:util';
import { UmaError } from '../../base/errors.ts';
import type { Folder } from '../../base/folder.ts';
import { defined } from '../../base/objects.ts';
import type { UnfinishedRun } from '../../types/index.ts';
import { isAlive, thisProcess } from '../host/process.ts';
import { fileError, journalError, type OpenedFile, openJournalFile, openJournalFolder, readAll } from './file.ts';
import {
  type BeginRecord,
  type EndRecord,
  encode,
  type JournalCommand,
  type JournalRecord,
  type ParsedJournal,
  parseJournal,
  type TrialAfterRecord,
  type TrialEndRecord,
  type TrialProcessRecord,
  type TrialRecord,
} from './records.ts';
import { type JournalRun, liveRun, runsOf, unfinishedRun } from './runs.ts';
import { journalWriter } from './writer.ts';

export { defaultJournal, journalError } from './file.ts';

const log = debuglog('umaprobe');

/** Facts of a run that its begin record has. */
export interface JournalHeading {
  command: JournalCommand;
  device: number | null;
  experiment?: BeginRecord['experiment'];
  simulated: string | null;
  bootId: string | null;
}

/** A record without what all records of a run share. */
type Own<R> = R extends JournalRecord ? Omit<R, 'run' | 'at' | 'bootId'> : never;
export type RunRecord = Own<TrialRecord | TrialProcessRecord | TrialAfterRecord | TrialEndRecord | EndRecord>;

/** An open journal with a run of this process. */
export interface Journal {
  readonly path: string;
  /** Descriptor; the child process appends to the same open file. */
  readonly fd: number;
  /** Id of this run. */
  readonly run: string;
  /** An earlier run that vanished during a step; null: none. */
  readonly unfinished: UnfinishedRun | null;
  /** Repairs that were made, as sentences: a torn end. */
  readonly notes: readonly string[];
  /** Records of the runs before this one. */
  readonly earlier: readonly JournalRecord[];
  /**
   * Adds a record of this run. It is on disk when the call returns.
   *
   * @throws UmaError `ERR_UMA_JOURNAL`: no space, or the disk failed.
   */
  commit(record: RunRecord): void;
  /**
   * Records that the child process has exited, and `how`: the run is no longer live, and a step without a result keeps
   * none. Does not throw.
   */
  gone(how: string): void;
  close(): void;
}

/**
 * Opens the journal and starts a run in it.
 *
 * @throws UmaError `ERR_UMA_JOURNAL`: the file cannot be used, or is damaged before its end (it is not changed then).
 *   `ERR_UMA_BUSY`: another run is live in it.
 */
export function openJournal(path: string, heading: JournalHeading): Journal {
  const folder = openJournalFolder(resolve(path));
  try {
    return openIn(folder, resolve(path), heading);
  } finally {
    folder.close();
  }
}

function openIn(folder: Folder, path: string, heading: JournalHeading): Journal {
  let file = openJournalFile(folder, path);
  try {
    const before = parse(file);
    refuseWhileLive(file.path, runsOf(before.records), heading.bootId);
    const notes: string[] = [];
    repairTail(file, before, notes);
    const begin = beginRecord(heading);
    journalWriter(file.fd, file.path).commit(begin);
    if (file.bytes.length === 0) folder.sync();

    // Two runs that start at the same time have both seen no live run. Records are in the order of the appends, so both
    // now see the same first run, and the second one gives way.
    const now = parse({ path: file.path, bytes: readAll(file.fd) });
    const runs = runsOf(now.records);
    const position = runs.findIndex((run) => run.begin.run === begin.run);
    try {
      refuseWhileLive(file.path, runs.slice(0, position), heading.bootId);
    } catch (error) {
      const { bootId, run } = begin;
      const end: EndRecord = { type: 'end', run, at: new Date().toISOString(), bootId, state: 'gave way' };
      journalWriter(file.fd, file.path).append(end);
      throw error;
    }
    if (now.goodBytes > COMPACT_ABOVE) {
      // A process that has the old file open keeps reading it, and finds this run in it as a live one.
      const kept = recordsToKeep(now.records, runs, begin.run);
      folder.replace(basename(path), kept.map(encode).join(''), 0o600);
      const old = file.fd;
      file = openJournalFile(folder, path);
      closeSync(old);
    }
    const others = runs.filter((run) => run.begin.run !== begin.run);
    const unfinished = unfinishedRun(others, heading, isAlive);
    return opened(file, begin, { unfinished, notes, earlier: before.records });
  } catch (error) {
    closeSync(file.fd);
    throw error instanceof UmaError ? error : fileError(file.path, error, 'nothing was allocated');
  }
}

function opened(
  { fd, path }: OpenedFile,
  { bootId, run }: BeginRecord,
  found: Pick<Journal, 'earlier' | 'notes' | 'unfinished'>,
): Journal {
  const write = (record: JournalRecord): void => journalWriter(fd, path).commit(record);
  const common = () => ({ run, at: new Date().toISOString(), bootId });

  /** Removes this run's last step from the end of the file if it has no result. */
  function removeOpenStep(): void {
    const { records } = parse({ path, bytes: readAll(fd) });
    const last = records.at(-1);
    if (last?.type !== 'step' || last.run !== run) return;
    ftruncateSync(fd, Buffer.byteLength(records.slice(0, -1).map(encode).join('')));
  }

  return {
    ...found,
    path,
    fd,
    run,
    commit: (record) => write({ ...record, ...common() }),
    gone(how) {
      const record = (): void => write({ type: 'gone', ...common(), how });
      try {
        record();
      } catch {
        try {
          // The last step makes room on a full disk. It must not stay without a result: the machine did not vanish in it.
          removeOpenStep();
          record();
        } catch (error) {
          // This must not lose the report: no further step needs a record.
          log('the end of run %s is not in the journal: %s', run, (error as Error).message);
          unrecordedEnds.add(run);
        }
      }
    },
    close: () => closeSync(fd),
  };
}

function parse({ bytes, path }: Pick<OpenedFile, 'bytes' | 'path'>): ParsedJournal {
  const journal = parseJournal(bytes);
  if (typeof journal === 'string') throw journalError(path, `${journal}; the file was not changed`, 'TORN');
  return journal;
}

/** Removes a torn end. Called only after all records before it were found complete. */
function repairTail(
  { fd, path }: OpenedFile,
  { goodBytes, lacksNewline, tornBytes }: ParsedJournal,
  notes: string[],
): void {
  if (tornBytes > 0) {
    ftruncateSync(fd, goodBytes);
    notes.push(`${tornBytes} bytes of an incomplete record were removed from the end of ${path}`);
  }
  // The last record is complete, but the next one must start on a new line.
  if (lacksNewline) writeSync(fd, '\n');
}

/** Runs of this thread that have ended but could not be recorded as such, as on a full disk. They are not live. */
const unrecordedEnds = new Set<string>();

function refuseWhileLive(path: string, runs: readonly JournalRun[], bootId: string | null): void {
  const open = runs.filter(({ begin }) => !unrecordedEnds.has(begin.run));
  const live = liveRun(open, bootId, isAlive);
  if (live === null) return;
  const { at, command } = live.begin;
  const pid = live.writers.find(isAlive)?.pid ?? live.begin.pid;
  throw new UmaError('ERR_UMA_BUSY', {
    source: 'umaprobe',
    call: `journal ${path}`,
    status: null,
    name: 'BUSY',
    message: `a ${command} of process ${pid}, started ${at}, is still running; two at a time would take each other's memory. Wait for it, or stop it`,
  });
}

function beginRecord({ bootId, command, device, experiment, simulated }: JournalHeading): BeginRecord {
  return {
    type: 'begin',
    run: randomBytes(6).toString('hex'),
    at: new Date().toISOString(),
    bootId,
    ...thisProcess(),
    command,
    simulated,
    device,
    ...defined({ experiment }),
  };
}

/** Size in bytes above which the start of a run compacts the journal: about 2,000 records. */
export const COMPACT_ABOVE = 512 * 1024;

/** Number of finished runs to keep, and of vanished runs. */
const RUNS_KEPT = 20;

/**
 * The records to keep, in order: of the newest vanished runs the begin record, the result with the largest amount held
 * and the last step; of the newest finished runs the begin and end records; of a profile its trials, too; all records of
 * the current run.
 */
function recordsToKeep(
  records: readonly JournalRecord[],
  runs: readonly JournalRun[],
  currentRun: string,
): JournalRecord[] {
  const newest = [
    ...runs.filter(({ ended }) => ended).slice(-RUNS_KEPT),
    ...runs.filter(({ ended, open }) => !ended && open !== null).slice(-RUNS_KEPT),
    // Runs without a step are those of a profile, whose trials are all kept.
    ...runs.filter(({ begin, ended }) => !ended && begin.experiment !== undefined).slice(-RUNS_KEPT),
    ...runs.filter(({ begin }) => begin.run === currentRun),
  ];
  const byRun = new Map(newest.map((run) => [run.begin.run, run]));
  const proven = new Set<string>();
  return records.filter((record) => {
    const run = byRun.get(record.run);
    if (run === undefined) return false;
    if (record.run === currentRun) return true;
    if (record.type === 'step') return record === run.open;
    if (record.type !== 'result') return true;
    if (run.ended || record.heldBytes !== run.provenBytes || proven.has(record.run)) return false;
    proven.add(record.run);
    return true;
  });
}
