/** The processes of watch: sorted, filtered, one of them selected. Holders are those of `processes()`. */
import { clean } from '../../../base/format.ts';
import type { ProcessesReport, ProcessGroup } from '../../../types/index.ts';
import { dot, type RenderOptions } from '../options.ts';
import { joinThatFits } from '../text-layout.ts';
import { groupRow, type ProcessRow, processesByPid, processRow, remainderRows, rowTable } from './process-rows.ts';

/** Orders, as the key `s` goes through them; the headings of the columns. */
export const SORTS = ['held', 'change', 'GPU', 'swap', 'name'] as const;

export type Sort = (typeof SORTS)[number];

/** A reader's choice of what to see. */
export interface ProcessView {
  sort: Sort;
  /** Part of a command line, name, container or pid; '': all. */
  filter: string;
  /** Groups of which each process is listed. */
  opened: ReadonlySet<string>;
  /** `key` of an entry; null: none. */
  selected: string | null;
  /** `held` of each group in an earlier reading; null: there is none. */
  before: ReadonlyMap<string, number> | null;
}

/** A row that can be selected. */
export interface ProcessEntry {
  key: string;
  group: ProcessGroup;
  /** The process itself; of a group with several the one at its top. */
  pid: number;
  row: ProcessRow;
}

export function entriesOf(report: ProcessesReport, { before, filter, opened, sort }: ProcessView): ProcessEntry[] {
  const byPid = processesByPid(report);
  const needle = filter.toLowerCase();
  const entries: ProcessEntry[] = [];
  const groups = report.groups.map((group) => ({ group, row: groupRow(group, byPid, before) }));
  if (sort === 'name') groups.sort((a, b) => a.group.name.localeCompare(b.group.name));
  else if (sort !== 'held') groups.sort((a, b) => compare(a.row, b.row, sort));
  for (const { group, row } of groups) {
    const { id, pids, rootPid } = group;
    const members = pids.flatMap((pid) => byPid.get(pid) ?? []).map(processRow);
    if (![row, ...members].some((each) => matches(each, needle))) continue;
    entries.push({ key: id, group, pid: rootPid, row });
    if (!opened.has(id) || members.length < 2) continue;
    for (const member of members)
      if (member.pid !== null) entries.push({ key: `pid:${member.pid}`, group, pid: member.pid, row: member });
  }
  return entries;
}

function matches({ pid, who }: ProcessRow, needle: string): boolean {
  return needle === '' || who.toLowerCase().includes(needle) || String(pid) === needle;
}

function compare(a: ProcessRow, b: ProcessRow, sort: Exclude<Sort, 'held' | 'name'>): number {
  const name = ({ change: 'change', GPU: 'gpu', swap: 'swap' } as const)[sort];
  return (b[name] ?? Number.NEGATIVE_INFINITY) - (a[name] ?? Number.NEGATIVE_INFINITY) || (b.held ?? 0) - (a.held ?? 0);
}

/** Title and heading of the table, and a row below them. */
export const LEAST_ROWS = 3;

/** Lines of the whole list. */
export function rowsOfList(report: ProcessesReport, entries: readonly ProcessEntry[], { filter }: ProcessView): number {
  return 2 + Math.max(1, entries.length + (filter === '' ? remainderRows(report).length : 0));
}

/** Rows from which on there is a title. */
const TITLED = 5;

/** @param rows of the window; the selected row is among those that are shown. */
export function processLines(
  report: ProcessesReport,
  entries: readonly ProcessEntry[],
  view: ProcessView,
  options: RenderOptions,
  rows: number,
): string[] {
  // A low window has rather a process more than the title.
  const title = rows < TITLED && view.filter === '' ? [] : ['title'];
  const room = Math.max(1, rows - title.length - 1);
  const at = entries.findIndex(({ key }) => key === view.selected);
  const start = Math.max(0, Math.min(entries.length - room, at < room ? 0 : at - room + 1));
  const shown = entries.slice(start, start + room);
  const rest = view.filter === '' && start + room > entries.length ? remainderRows(report) : [];
  // The largest values are in the table, so that columns stay where they are while a reader scrolls.
  const [heading = '', ...lines] = rowTable([...shown.map(({ row }) => row), ...rest.slice(0, room - shown.length)], {
    ...options,
    width: options.width - MARK.length,
  });
  return [
    ...title.map(() => titleLine(report, entries.length, shown.length, start, view, options)),
    `${' '.repeat(MARK.length)}${heading}`,
    ...(shown.length === 0 && view.filter !== '' ? [`${' '.repeat(MARK.length)}No process matches.`] : []),
    ...lines.map((line, index) =>
      shown[index]?.key === view.selected && view.selected !== null
        ? options.paint('selected', `${MARK}${line}`.padEnd(options.width))
        : `${' '.repeat(MARK.length)}${line}`,
    ),
  ].slice(0, rows);
}

/** Mark before the selected row, also without colours. */
const MARK = '> ';

function titleLine(
  { limits }: ProcessesReport,
  all: number,
  shown: number,
  start: number,
  { filter, sort }: ProcessView,
  options: RenderOptions,
): string {
  const parts = [
    'WHO HOLDS MEMORY',
    `sorted by ${sort}`,
    ...(filter === '' ? [] : [`filter "${clean(filter)}"`]),
    ...(shown < all ? [`${start + 1} to ${start + shown} of ${all}`] : []),
    ...(limits.length > 0 ? ['not all is known: umaprobe processes says what'] : []),
  ];
  return options.paint('heading', joinThatFits(parts, dot(options), options.width));
}
