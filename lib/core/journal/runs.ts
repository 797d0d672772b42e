/** The records of a journal as runs: ended, live, or vanished during a step. */

import { formatBytes } from '../../base/format.ts';
import type { UnfinishedRun } from '../../types/index.ts';
import type { ProcessId } from '../host/process.ts';
import type { BeginRecord, JournalRecord, StepRecord } from './records.ts';

export interface JournalRun {
  begin: BeginRecord;
  /** The run ended and freed its memory. */
  ended: boolean;
  /** The child process has exited. */
  gone: boolean;
  /** The last step if it has no result, else null. */
  open: StepRecord | null;
  /** Largest amount held after a successful step, in bytes. */
  provenBytes: number;
  /** Processes that wrote records: the parent and the child that allocates. In a profile also its commands. */
  writers: ProcessId[];
}

/** Runs in the order of their start. Records of a run whose begin record was compacted away are left out. */
export function runsOf(records: readonly JournalRecord[]): JournalRun[] {
  const runs = new Map<string, JournalRun>();
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
    } else if (record.type === 'trial-process') {
      run.writers.push(record);
    } else if (record.type === 'gone') {
      run.gone = true;
    }
  }
  return [...runs.values()];
}

/** True while a process that wrote records runs. */
export type IsAlive = (writer: ProcessId) => boolean;

/** The run that is live on this boot of the machine; null: none. */
export function liveRun(runs: readonly JournalRun[], bootId: string | null, alive: IsAlive): JournalRun | null {
  return runs.find((run) => run.begin.bootId === bootId && isLive(run, alive)) ?? null;
}

function isLive(run: JournalRun, alive: IsAlive): boolean {
  return !run.ended && !run.gone && run.writers.some(alive);
}

/**
 * The newest run that vanished during a step; null: none, or a later run of the same command ended, so the machine
 * survives that command. Runs on other machines, simulated or real, do not count.
 */
export function unfinishedRun(
  runs: readonly JournalRun[],
  machine: { simulated: string | null; bootId: string | null },
  alive: IsAlive,
): UnfinishedRun | null {
  const candidates = runs.filter(({ begin }) => begin.simulated === machine.simulated);
  for (const [index, run] of [...candidates.entries()].reverse()) {
    if (run.ended || run.open === null || isLive(run, alive)) continue;
    const { command } = run.begin;
    // A profile has trials instead of steps, and says itself which one was the last.
    if (command === 'profile') continue;
    if (candidates.slice(index + 1).some((later) => later.ended && later.begin.command === command)) continue;
    return describe(command, run, run.open, machine.bootId);
  }
  return null;
}

function describe(
  command: UnfinishedRun['command'],
  run: JournalRun,
  open: StepRecord,
  bootId: string | null,
): UnfinishedRun {
  const { kind, heldBytes, targetBytes } = open;
  const otherBoot = open.bootId !== bootId;
  const subject = otherBoot ? 'the machine vanished' : 'the process vanished (the machine was not restarted)';
  const activity =
    targetBytes === heldBytes
      ? `holding ${formatBytes(heldBytes)}`
      : `taking ${formatBytes(heldBytes)} to ${formatBytes(targetBytes)}`;
  return {
    command,
    at: open.at,
    bootId: open.bootId,
    otherBoot,
    kind,
    heldBytes,
    targetBytes,
    provenBytes: run.provenBytes,
    sentence: `${subject} while ${activity} of ${kind} memory (${command}, ${open.at}, boot ${open.bootId ?? 'unknown'})`,
  };
}
