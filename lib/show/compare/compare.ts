/** Finds the comparison for a kind of document; index.ts has checked that both are of one kind. */

import type {
  Comparable,
  CompareReport,
  ProcessesReport,
  RecordReport,
  Snapshot,
  SweepReport,
} from '../../types/index.ts';
import { compareProcesses } from './processes.ts';
import { compareRecords } from './records.ts';
import { compareSnapshots } from './snapshots.ts';
import { compareSweeps } from './sweeps.ts';

export function compareDocuments(a: Comparable, b: Comparable): CompareReport {
  switch (a.schema) {
    case 'umaprobe/snapshot/1':
      return compareSnapshots(a, b as Snapshot);
    case 'umaprobe/processes/1':
      return compareProcesses(a, b as ProcessesReport);
    case 'umaprobe/sweep/1':
      return compareSweeps(a, b as SweepReport);
    case 'umaprobe/record/1':
      return compareRecords(a, b as RecordReport);
  }
}
