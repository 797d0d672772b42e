/** The records of a journal as runs: which ended, which are going on, which vanished and in what. */

import { formatBytes } from '../base/format.ts';
import type { ProcessId } from '../host/process.ts';
import type { UnfinishedRun } from '../types/index.ts';
import type { BeginRecord, JournalRecord, StepRecord } from './records.ts';

export interface Run {
  begin: BeginRecord;
  /** It came to its end and freed everything. */
  ended: boolean;
  /** Its parent saw the child go. */
  gone: boolean;
  /** The last step, while it has no result. */
  open: StepRecord | null;
  /** The most that was held after a step that was made. */
  provenBytes: number;
  /** Everybody who wrote: the parent that began it, the child that allocates. */
  writers: ProcessId[];
}

/** In the order in which they began. Records of a run without a beginning (compacted away) are left out. */
export function runsOf(records: readonly JournalRecord[]): Run[] {
  const runs = new Map<string, Run>();
  for (const record of records) {
    if (record.type === 'begin') {
      runs.set(record.run, { begin: record, ended: false, gone: false, open: null, provenBytes: 0, writers: [record] });
      continue;
    }
    const run = runs.get(record.run);
    if (run === undefined) continue;
    if (record.type === 'step') {
      run.open = record;
      if (!run.writers.some(({ pid }) => pid === record.pid)) run.writers.push(record);
    } else if (record.type === 'result') {
      run.open = null;
      run.provenBytes = Math.max(run.provenBytes, record.heldBytes);
    } else if (record.type === 'end') {
      run.open = null;
      run.ended = true;
    } else {
      run.gone = true;
    }
  }
  return [...runs.values()];
}

/** Whether one of a run's processes is still there. */
export type IsAlive = (writer: ProcessId) => boolean;

/** The run that is going on now on this boot of the machine; null: none. */
export function liveRun(runs: readonly Run[], bootId: string | null, alive: IsAlive): Run | null {
  return runs.find((run) => run.begin.bootId === bootId && isLive(run, alive)) ?? null;
}

function isLive(run: Run, alive: IsAlive): boolean {
  return !run.ended && !run.gone && run.writers.some(alive);
}

/**
 * The newest run that vanished in a step, unless the same command has come to its end since: then the machine has
 * survived what is asked of it. Runs on another machine (simulated and real are never one) do not count.
 */
export function unfinishedRun(
  runs: readonly Run[],
  machine: { simulated: string | null; bootId: string | null },
  alive: IsAlive,
): UnfinishedRun | null {
  const mine = runs.filter(({ begin }) => begin.simulated === machine.simulated);
  for (const [at, run] of [...mine.entries()].reverse()) {
    if (run.ended || run.open === null || isLive(run, alive)) continue;
    const { command } = run.begin;
    if (mine.slice(at + 1).some((later) => later.ended && later.begin.command === command)) continue;
    return described(run, run.open, machine.bootId);
  }
  return null;
}

function described(run: Run, open: StepRecord, bootId: string | null): UnfinishedRun {
  const { kind, heldBytes, targetBytes } = open;
  const otherBoot = open.bootId !== bootId;
  const who = otherBoot ? 'the machine vanished' : 'the process vanished (this boot of the machine has survived it)';
  const what =
    targetBytes === heldBytes
      ? `holding ${formatBytes(heldBytes)}`
      : `taking ${formatBytes(heldBytes)} to ${formatBytes(targetBytes)}`;
  return {
    command: run.begin.command,
    at: open.at,
    bootId: open.bootId,
    otherBoot,
    kind,
    heldBytes,
    targetBytes,
    provenBytes: run.provenBytes,
    sentence: `${who} while ${what} of ${kind} memory (${run.begin.command}, ${open.at}, boot ${open.bootId ?? 'unknown'})`,
  };
}
