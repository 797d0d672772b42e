/** Holders of memory: groups of processes, the largest first, and the memory of no process at the end. */
import { clean, formatBytes, inGiB } from '../../../base/format.ts';
import type { ProcessesReport, ProcessGroup, ProcessMemory } from '../../../types/index.ts';
import type { RenderOptions } from '../options.ts';
import { hanging } from '../text-layout.ts';
import { labelled, sections, simulatedBand } from './frame.ts';
import {
  detailRow,
  groupName,
  groupRow,
  otherRow,
  type ProcessRow,
  processesByPid,
  processRow,
  remainderRows,
  rowTable,
} from './process-rows.ts';

export interface ProcessesView {
  /** Groups that are listed; the others are one line. */
  top: number;
  /** Each process of the listed groups, too. */
  all: boolean;
  /** `held` of each group in an earlier reading, for the column of changes; null: no such column. */
  before: ReadonlyMap<string, number> | null;
}

export function processesPage(report: ProcessesReport, view: ProcessesView, options: RenderOptions): string[] {
  const { limits, simulated } = report;
  return sections(
    [...simulatedBand(simulated, options), ...answerLines(report, options)],
    rowsOf(report, view, options),
    legend(report, options),
    limits.flatMap((limit) => hanging('note  ', clean(limit), options.width)),
  );
}

/** "MOST  vllm (4711) holds 76.0 GiB of 119.69 GiB, 36.3 GiB are available." */
function answerLines({ available, groups: [most], total }: ProcessesReport, options: RenderOptions): string[] {
  const all = `${inGiB(total)} GiB`;
  return most === undefined
    ? labelled(
        'NONE',
        'notice',
        `No program is seen to hold memory; ${formatBytes(available)} of ${all} are available.`,
        options,
      )
    : labelled(
        'MOST',
        'notice',
        `${groupName(most)} holds ${formatBytes(most.held)} of ${all}, ${formatBytes(available)} are available.`,
        options,
      );
}

function rowsOf(report: ProcessesReport, view: ProcessesView, options: RenderOptions): string[] {
  const { groups } = report;
  const byPid = processesByPid(report);
  const rows = [
    ...groups.slice(0, view.top).flatMap((group) => rowsOfGroup(group, byPid, view)),
    ...otherRow(groups.slice(view.top)),
    ...remainderRows(report),
  ];
  return rowTable(rows, options);
}

function rowsOfGroup(
  group: ProcessGroup,
  byPid: ReadonlyMap<number, ProcessMemory>,
  { all, before }: ProcessesView,
): ProcessRow[] {
  const { pids, pools } = group;
  const row = groupRow(group, byPid, before);
  if (!all) {
    const largest = pools.slice(0, 2);
    return [
      row,
      ...largest.map((pool) => detailRow(`${pool.pids.length} × ${clean(pool.name)}: ${formatBytes(pool.held)}`)),
    ];
  }
  return pids.length === 1 ? [row] : [row, ...pids.flatMap((pid) => byPid.get(pid) ?? []).map(processRow)];
}

function legend({ memoryModel, processes }: ProcessesReport, { paint, width }: RenderOptions): string[] {
  const lines = hanging(
    'held   ',
    memoryModel === 'unified'
      ? 'comes back when the process ends: its memory, its share of shared memory, its GPU memory'
      : 'comes back when the process ends: its memory and its share of shared memory',
    width,
  );
  if (processes.some(({ file }) => (file ?? 0) > 0))
    lines.push(...hanging('files  ', 'mapped files in cache: the kernel takes them back when it needs to', width));
  if (memoryModel !== null && memoryModel !== 'unified')
    lines.push(...hanging('GPU    ', 'memory of the GPU, which is not part of “held”', width));
  return lines.map((line) => paint('dim', line));
}
