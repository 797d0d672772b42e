/** Keeps a journal small: what finished long ago is of no use to anybody. */

import { writeFileAtomic } from '../base/atomic-file.ts';
import { encode, type JournalRecord } from './records.ts';
import type { Run } from './runs.ts';

/** Past this, a start compacts. */
export const COMPACT_ABOVE = 512 * 1024;
const RUNS_KEPT = 20;

/**
 * The records to keep: of runs that vanished in a step their beginning, the most that they had held and that step; of the
 * finished ones their beginning and end; all of `own`. The newest of each sort.
 */
export function kept(records: readonly JournalRecord[], runs: readonly Run[], own: string): JournalRecord[] {
  const newest = [
    ...runs.filter(({ ended }) => ended).slice(-RUNS_KEPT),
    ...runs.filter(({ ended, open }) => !ended && open !== null).slice(-RUNS_KEPT),
    ...runs.filter(({ begin }) => begin.run === own),
  ];
  const byRun = new Map(newest.map((run) => [run.begin.run, run]));
  const proven = new Set<string>();
  return records.filter((record) => {
    const run = byRun.get(record.run);
    if (run === undefined) return false;
    if (record.run === own) return true;
    if (record.type === 'step') return record === run.open;
    if (record.type !== 'result') return true;
    if (run.ended || record.heldBytes !== run.provenBytes || proven.has(record.run)) return false;
    proven.add(record.run);
    return true;
  });
}

/**
 * Replaces the file in one move: whoever reads it sees the old one or the new one. What has the old one open keeps it,
 * and finds in it the run that is compacting as a live one.
 */
export function replaceJournal(path: string, records: readonly JournalRecord[]): void {
  writeFileAtomic(path, records.map(encode).join(''), 0o600);
}
