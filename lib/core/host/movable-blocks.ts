/** Free blocks in movable pageblocks, of which compaction can make larger ones: `/proc/pagetypeinfo`. */

import { isFailure, reason } from '../../base/facts.ts';
import type { FreeBlocks } from '../../types/index.ts';
import { type KernelFiles, unparsed } from './files.ts';
import { decimal } from './procfs.ts';

const PAGETYPEINFO = '/proc/pagetypeinfo';

/**
 * The free blocks of `/proc/buddyinfo` with those in movable pageblocks. Only root may read the file, and only a reading that
 * needs it should: the kernel walks the lists of free pages with the zone locked (0.4 ms with 3 GiB free).
 *
 * @returns the blocks as they were if the file cannot be read; `from` is the source, or the reason.
 */
export async function readMovableBlocks(
  files: KernelFiles,
  contiguity: readonly FreeBlocks[],
): Promise<{ contiguity: FreeBlocks[]; from: string }> {
  const [text] = await files.read([PAGETYPEINFO]);
  if (text === undefined || isFailure(text))
    return { contiguity: [...contiguity], from: text === undefined ? `${PAGETYPEINFO}: not read` : reason(text) };
  const counted = parsePagetypeinfo(text, contiguity);
  return counted === null
    ? { contiguity: [...contiguity], from: unparsed(PAGETYPEINFO) }
    : { contiguity: counted, from: PAGETYPEINFO };
}

/**
 * The text has two tables for each node: free blocks by zone, type and order, and all pageblocks by zone and type. The two
 * files are not read at the same instant: a count is at most that of buddyinfo.
 *
 * The kernel counts no more than 100,000 free blocks of an order and a type (">100000"). If it stopped, the movable
 * blocks are the rest that the other types leave of buddyinfo's; if it stopped at both, at least that many: no more
 * free pages can be unmovable than there are pages in the pageblocks of the other types.
 */
export function parsePagetypeinfo(text: string, contiguity: readonly FreeBlocks[]): FreeBlocks[] | null {
  const tables = readTables(text, contiguity.length);
  if (tables === null) return null;
  const exact = contiguity.map(({ freeBlocks }, order) => {
    const [movable, others] = [tables.movable[order] as number, tables.others[order] as number];
    if (movable === STOPPED && others === STOPPED) return null;
    return Math.min(movable === STOPPED ? Math.max(0, freeBlocks - others) : movable, freeBlocks);
  });
  let unmovable = tables.unmovablePages;
  for (const [order, { freeBlocks }] of contiguity.entries())
    unmovable -= (freeBlocks - (exact[order] ?? freeBlocks)) * 2 ** order;
  return contiguity.map((blocks, order) => {
    const most = Math.min(Math.max(0, Math.floor(unmovable / 2 ** order)), blocks.freeBlocks);
    if (exact[order] === null) unmovable -= most * 2 ** order;
    return { ...blocks, movableBlocks: exact[order] ?? blocks.freeBlocks - most };
  });
}

/** A count at which the kernel stopped. */
const STOPPED = Number.POSITIVE_INFINITY;

interface Tables {
  /** Free blocks by order, of the zones that buddyinfo adds. */
  movable: number[];
  others: number[];
  /** Pages in the pageblocks of the other types, free or not. */
  unmovablePages: number;
}

/** null: a row is missing or not readable. */
function readTables(text: string, orders: number): Tables | null {
  const pagesPerBlock = decimal(/^Pages per block: +(\d+)$/m.exec(text)?.[1]);
  const types = /^Number of blocks type +(.*?) *$/m.exec(text)?.[1]?.split(/ +/) ?? [];
  const lines = text.split('\n').filter((line) => line.startsWith('Node'));
  const rows = lines.map(parseRow).filter((row) => row !== null);
  const zones = rows.filter(({ zone }) => zone === 'Normal' || !rows.some((row) => row.zone === 'Normal'));
  const ofAll = zones.filter(({ type }) => type === '');
  const ofMovable = zones.filter(({ type }) => type === 'Movable');
  const ofOthers = zones.filter(({ type }) => type !== '' && type !== 'Movable');
  // A zone has a row of each type in the first table, and one row in the second, which a text that was cut off lacks.
  const isWhole =
    ofAll.length > 0 &&
    ofMovable.length === ofAll.length &&
    ofOthers.length === ofAll.length * (types.length - 1) &&
    zones.every(({ counts, type }) => counts.length === (type === '' ? types.length : orders));
  if (pagesPerBlock === null || rows.length < lines.length || !isWhole) return null;
  const sums = (of: readonly PageTypeRow[], columns: number) =>
    Array.from({ length: columns }, (_, at) => of.reduce((sum, { counts }) => sum + (counts[at] as number), 0));
  const blocks = sums(ofAll, types.length).filter((_, at) => types[at] !== 'Movable');
  return {
    movable: sums(ofMovable, orders),
    others: sums(ofOthers, orders),
    unmovablePages: blocks.reduce((sum, count) => sum + count, 0) * pagesPerBlock,
  };
}

interface PageTypeRow {
  zone: string;
  /** '' in the second table, which has one row for all types. */
  type: string;
  counts: number[];
}

const ROW = /^Node +\d+, +zone +([^\s,]+)(?:, +type +(\S+))? +((?:>?\d+ +)*>?\d+) *$/;

function parseRow(line: string): PageTypeRow | null {
  const [, zone, type = '', cells] = ROW.exec(line) ?? [];
  if (zone === undefined || cells === undefined) return null;
  const counts = cells.split(/ +/).map((cell) => (cell.startsWith('>') ? STOPPED : decimal(cell)));
  return counts.includes(null) ? null : { zone, type, counts: counts as number[] };
}
