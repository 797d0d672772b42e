/** Compaction of a journal: keeps the newest finished and vanished runs. */

import type { JournalRecord } from './records.ts';
import type { JournalRun } from './runs.ts';

/** Size in bytes above which the start of a run compacts the journal: about 2,000 records. */
export const COMPACT_ABOVE = 512 * 1024;

/** Number of finished runs to keep, and of vanished runs. */
const RUNS_KEPT = 20;

/**
 * The records to keep, in order: of the newest vanished runs the begin record, the result with the largest amount held
 * and the last step; of the newest finished runs the begin and end records; of a profile its trials, too; all records of
 * the current run.
 */
export function recordsToKeep(
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
