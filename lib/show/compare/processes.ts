/** Two lists of processes: which groups hold more. */

import type { ComparedSide, CompareReport, ProcessesReport } from '../../types/index.ts';
import { differing, directionOf, holdingRows, holdings, row, textOf } from './rows.ts';
import { changeSentence, grewSentence } from './sentences.ts';

export function compareProcesses(a: ProcessesReport, b: ProcessesReport): CompareReport {
  const available = row('answer', 'can become free', 'bytes', [a.available, b.available], 'available');
  const sum = (name: string, of: (report: ProcessesReport) => number | null, path: string) =>
    row('memory', name, 'bytes', [of(a), of(b)], path);
  const holders = holdingRows('programs', [heldOf(a), heldOf(b)], [isComplete(a), isComplete(b)], 'groups[].held');
  const all = [
    available,
    ...holders,
    sum('total', ({ total }) => total, 'total'),
    sum('anonymous', ({ totals }) => totals.anonymous.total, 'totals.anonymous.total'),
    sum('shmem', ({ totals }) => totals.shared.total, 'totals.shared.total'),
    sum('swap used', ({ totals }) => totals.swap.total, 'totals.swap.total'),
    sum('unattributed', ({ unattributed }) => unattributed, 'unattributed'),
  ];
  const first =
    available.a === available.b ? 'As much is available in both.' : changeSentence(available, 'is available');
  return {
    schema: 'umaprobe/compare/1',
    kind: 'processes',
    a: sideOf(a),
    b: sideOf(b),
    summary: [first, grewSentence(holders, 'memory')].filter((text) => text !== null).join(' '),
    direction: directionOf(available),
    ...differing(all),
    findings: [],
    notes: [...a.limits.map((limit) => `A: ${limit}`), ...b.limits.map((limit) => `B: ${limit}`)],
  };
}

function sideOf({ at, simulated }: ProcessesReport): ComparedSide {
  return { at: textOf(at) ?? '', simulated: textOf(simulated), device: null, verdict: null };
}

/** Containers and units keep their name; a tree of processes is known by the name of its program. */
function heldOf({ groups }: ProcessesReport) {
  return holdings(groups.map(({ held, id, kind, name }) => [kind === 'tree' ? name : id.replace(/^unit:/, ''), held]));
}

/** True if unlisted groups hold nothing: this user sees every process, and NVML says what each holds of the pool. */
function isComplete({ hiddenProcesses, memoryModel, totals }: ProcessesReport): boolean {
  return hiddenProcesses === 0 && (memoryModel !== 'unified' || totals.gpu.exact);
}
