/** Who holds memory: groups of processes, the largest first, and the memory of no process at the end. */
import { clean, formatBoth, formatBytes, formatCount, UNKNOWN } from '../../base/format.ts';
import type { ProcessesReport, ProcessGroup, ProcessMemory } from '../../types/index.ts';
import { amount, type RenderOptions } from '../options.ts';
import { type Column, hanging, table, truncate } from '../text-layout.ts';
import { sections, simulatedBand } from './frame.ts';

export interface ProcessesView {
  /** Groups that are listed; the others are one line. */
  top: number;
  /** Each process of the listed groups, too. */
  all: boolean;
  /** `held` of each group in an earlier reading, for the column of changes; null: no such column. */
  before: ReadonlyMap<string, number> | null;
}

export function processesPage(report: ProcessesReport, view: ProcessesView, options: RenderOptions): string[] {
  const { available, limits, simulated, total } = report;
  const { paint, width } = options;
  const title = `WHO HOLDS MEMORY  ${formatBoth(total)} in all, ${formatBytes(available)} available`;
  return sections(
    simulated === null ? [] : [simulatedBand(simulated, options)],
    [paint('strong', truncate(title, width))],
    rowsOf(report, view, options),
    legend(report, options),
    limits.flatMap((limit) => hanging('note  ', clean(limit), width)),
  );
}

interface Row {
  held: number | null;
  change: number | null;
  gpu: number | null;
  swap: number | null;
  file: number | null;
  /** The largest process of a group. */
  pid: number | null;
  who: string;
}

/** Columns of numbers: those that are 0 in every row are left out. */
const COLUMNS = [
  { heading: 'held', of: ({ held }: Row) => held, always: true },
  { heading: 'change', of: ({ change }: Row) => change, always: false, signed: true },
  { heading: 'GPU', of: ({ gpu }: Row) => gpu, always: false },
  { heading: 'swap', of: ({ swap }: Row) => swap, always: false },
  { heading: 'files', of: ({ file }: Row) => file, always: false },
] as const;

function rowsOf(report: ProcessesReport, view: ProcessesView, options: RenderOptions): string[] {
  const { groups } = report;
  const byPid = new Map(report.processes.map((each) => [each.pid, each]));
  const listed = groups.slice(0, view.top);
  const rows = [
    ...listed.flatMap((group) => groupRows(group, byPid, view)),
    ...otherRow(groups.slice(view.top)),
    ...remainders(report),
  ];
  const columns = COLUMNS.filter(({ always, of }) => always || rows.some((row) => (of(row) ?? 0) !== 0));
  const cells = rows.map((row) => [
    ...columns.map((column) => cell(column.of(row), 'signed' in column, options)),
    row.pid === null ? '' : String(row.pid),
    row.who,
  ]);
  const right: Column = { align: 'right' };
  const layout: Column[] = [...columns.map(() => right), right, { align: 'left', flexible: true }];
  const [heading = '', ...lines] = table(
    layout,
    [[...columns.map((column) => column.heading), 'pid', 'by'], ...cells],
    options.width,
  );
  return [options.paint('heading', heading), ...lines];
}

function cell(bytes: number | null, signed: boolean, options: RenderOptions): string {
  if (bytes === null || bytes === 0) return '';
  return signed && bytes > 0 ? `+${amount(bytes, options)}` : amount(bytes, options);
}

function groupRows(
  group: ProcessGroup,
  byPid: ReadonlyMap<number, ProcessMemory>,
  { all, before }: ProcessesView,
): Row[] {
  const { exact, file, gpuBytes, held, id, pids, pools, swap } = group;
  const largest = byPid.get(pids[0] ?? 0);
  const bound = exact || pids.length === 1 ? '' : 'at most: ';
  const row: Row = {
    held,
    change: before === null ? null : held - (before.get(id) ?? 0),
    gpu: gpuBytes,
    swap,
    file,
    pid: largest?.pid ?? group.rootPid,
    who: `${bound}${ownerText(group)}${countText(pids.length)}${programText(largest)}`,
  };
  const details = all
    ? pids.flatMap((pid) => processRow(byPid.get(pid)))
    : pools.slice(0, 2).map((pool) => detail(`${pool.pids.length} × ${clean(pool.name)}: ${formatBytes(pool.held)}`));
  return [row, ...(all && pids.length === 1 ? [] : details)];
}

/** "4 processes, " and then the largest. */
function countText(count: number): string {
  return count === 1 ? '' : `${formatCount(count)} processes: `;
}

function ownerText({ id, kind, name }: ProcessGroup): string {
  if (kind === 'tree') return '';
  return kind === 'unit' ? `${clean(name)}: ` : `${clean(id.replace(':', ' '))}: `;
}

/** The command line without the folder of the program, or the name. */
function programText(process: ProcessMemory | undefined): string {
  if (process === undefined) return UNKNOWN;
  const { command, name } = process;
  if (command === null) return clean(name ?? UNKNOWN);
  const [program = '', ...rest] = command.split(' ');
  return clean([program.slice(program.lastIndexOf('/') + 1), ...rest].join(' ')).slice(0, 200);
}

function processRow(process: ProcessMemory | undefined): Row[] {
  if (process === undefined) return [];
  const { file, gpuBytes, held, pid, pss, swap } = process;
  return [{ held, change: null, gpu: gpuBytes, swap, file: pss?.file ?? file, pid, who: `  ${programText(process)}` }];
}

function detail(text: string): Row {
  return { held: null, change: null, gpu: null, swap: null, file: null, pid: null, who: `  ${text}` };
}

function otherRow(groups: readonly ProcessGroup[]): Row[] {
  if (groups.length === 0) return [];
  const sum = (of: (group: ProcessGroup) => number | null) =>
    groups.reduce((total, group) => total + (of(group) ?? 0), 0);
  const count = sum(({ pids }) => pids.length);
  return [
    {
      held: sum(({ held }) => held),
      change: null,
      gpu: sum(({ gpuBytes }) => gpuBytes),
      swap: sum(({ swap }) => swap),
      file: sum(({ file }) => file),
      pid: null,
      who: `${formatCount(count)} other ${count === 1 ? 'process' : 'processes'}`,
    },
  ];
}

/** Memory that is used, by no process in the list. */
function remainders({ sharedMemory, totals, unattributed }: ProcessesReport): Row[] {
  const rows: Row[] = [];
  const unmapped = totals.shared.total === null ? 0 : totals.shared.total - totals.shared.listed;
  if (unmapped > 0) {
    const where = sharedMemory.slice(0, 2).map(({ bytes, name }) => `${clean(name)} ${formatBytes(bytes)}`);
    const places = where.length === 0 ? '' : `: ${where.join(', ')}`;
    rows.push({ ...detail(''), held: unmapped, who: `tmpfs, shared memory of no process${places}` });
  }
  if (unattributed > 0) rows.push({ ...detail(''), held: unattributed, who: 'unattributed: driver, pipe buffers' });
  return rows;
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
