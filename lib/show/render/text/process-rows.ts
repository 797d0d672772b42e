/** Rows of who holds memory: a group each, its pools or its processes below it. */
import { clean, formatBytes, formatCount, UNKNOWN } from '../../../base/format.ts';
import type { ProcessesReport, ProcessGroup, ProcessMemory } from '../../../types/index.ts';
import { amount, type RenderOptions } from '../options.ts';
import type { Column } from '../text-layout.ts';
import { headedTable } from './frame.ts';

export interface ProcessRow {
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
  { heading: 'held', of: ({ held }: ProcessRow) => held, always: true },
  { heading: 'change', of: ({ change }: ProcessRow) => change, always: false, signed: true },
  { heading: 'GPU', of: ({ gpu }: ProcessRow) => gpu, always: false },
  { heading: 'swap', of: ({ swap }: ProcessRow) => swap, always: false },
  { heading: 'files', of: ({ file }: ProcessRow) => file, always: false },
] as const;

/** The heading, and a line for each row. */
export function rowTable(rows: readonly ProcessRow[], options: RenderOptions): string[] {
  const columns = COLUMNS.filter(({ always, of }) => always || rows.some((row) => (of(row) ?? 0) !== 0));
  const cells = rows.map((row) => [
    ...columns.map((column) => cell(column.of(row), 'signed' in column, options)),
    row.pid === null ? '' : String(row.pid),
    row.who,
  ]);
  const layout: Column[] = [...columns.map(() => 'right' as const), 'right', 'flexible'];
  return headedTable(
    layout,
    [[...columns.map((column) => column.heading), 'pid', 'by'], ...cells],
    options.width,
    options.paint,
  );
}

function cell(bytes: number | null, signed: boolean, options: RenderOptions): string {
  if (bytes === null || bytes === 0) return '';
  return signed && bytes > 0 ? `+${amount(bytes, options)}` : amount(bytes, options);
}

export function processesByPid({ processes }: ProcessesReport): ReadonlyMap<number, ProcessMemory> {
  return new Map(processes.map((each) => [each.pid, each]));
}

/** @param before `held` of each group in an earlier reading; null: there is none. */
export function groupRow(
  group: ProcessGroup,
  byPid: ReadonlyMap<number, ProcessMemory>,
  before: ReadonlyMap<string, number> | null,
): ProcessRow {
  const { exact, file, gpuBytes, held, id, pids, swap } = group;
  const largest = byPid.get(pids[0] ?? 0);
  const bound = exact || pids.length === 1 ? '' : 'at most: ';
  return {
    held,
    change: before === null ? null : held - (before.get(id) ?? 0),
    gpu: gpuBytes,
    swap,
    file,
    pid: largest?.pid ?? group.rootPid,
    who: `${bound}${group.kind === 'tree' ? '' : `${groupName(group)}: `}${countText(pids.length)}${programText(largest)}`,
  };
}

/** "4 processes, " and then the largest. */
function countText(count: number): string {
  return count === 1 ? '' : `${formatCount(count)} processes: `;
}

/** "vllm (4711)", "ollama.service", "docker 3f4e…". */
export function groupName({ id, kind, name, rootPid }: ProcessGroup): string {
  if (kind === 'tree') return `${clean(name)} (${rootPid})`;
  return clean(kind === 'unit' ? name : id.replace(':', ' '));
}

/** The command line without the folder of the program, or the name. */
function programText(process: ProcessMemory | undefined): string {
  if (process === undefined) return UNKNOWN;
  const { command, name } = process;
  if (command === null) return clean(name ?? UNKNOWN);
  const [program = '', ...rest] = command.split(' ');
  return clean([program.slice(program.lastIndexOf('/') + 1), ...rest].join(' ')).slice(0, 200);
}

export function processRow(process: ProcessMemory): ProcessRow {
  const { file, gpuBytes, held, pid, pss, swap } = process;
  return { held, change: null, gpu: gpuBytes, swap, file: pss?.file ?? file, pid, who: `  ${programText(process)}` };
}

const NOTHING = { held: null, change: null, gpu: null, swap: null, file: null, pid: null };

export function detailRow(text: string): ProcessRow {
  return { ...NOTHING, who: `  ${text}` };
}

/** The groups that are not listed, as one row. */
export function otherRow(groups: readonly ProcessGroup[]): ProcessRow[] {
  if (groups.length === 0) return [];
  const sum = (of: (group: ProcessGroup) => number | null) =>
    groups.reduce((total, group) => total + (of(group) ?? 0), 0);
  const count = sum(({ pids }) => pids.length);
  return [
    {
      ...NOTHING,
      held: sum(({ held }) => held),
      gpu: sum(({ gpuBytes }) => gpuBytes),
      swap: sum(({ swap }) => swap),
      file: sum(({ file }) => file),
      who: `${formatCount(count)} other ${count === 1 ? 'process' : 'processes'}`,
    },
  ];
}

/** Memory that is used, by no process in the list. */
export function remainderRows({ sharedMemory, totals, unattributed }: ProcessesReport): ProcessRow[] {
  const rows: ProcessRow[] = [];
  const unmapped = totals.shared.total === null ? 0 : totals.shared.total - totals.shared.listed;
  if (unmapped > 0) {
    const where = sharedMemory.slice(0, 2).map(({ bytes, name }) => `${clean(name)} ${formatBytes(bytes)}`);
    const places = where.length === 0 ? '' : `: ${where.join(', ')}`;
    rows.push({ ...NOTHING, held: unmapped, who: `tmpfs, shared memory of no process${places}` });
  }
  if (unattributed > 0) rows.push({ ...NOTHING, held: unattributed, who: 'in no counter: driver, pipe buffers' });
  return rows;
}
