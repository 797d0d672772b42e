/**
 * Parsers of small files in /proc and /sys: pure functions over text. A text that is not in the documented format gives
 * null, never 0 and never NaN.
 */

import type { FreeBlocks, Pressure, Psi } from '../types/index.ts';

/**
 * A text that consists of one decimal number; null for any other, such as "[N/A]", "max" and "", and for a number above
 * 2^53, which would be inexact or Infinity.
 */
export function decimal(text: string | undefined): number | null {
  return text !== undefined && /^\d+(\.\d+)?$/.test(text) ? exact(Number(text)) : null;
}

/** The same for a counter, which has no fraction. */
function wholeNumber(text: string): number | null {
  return text.includes('.') ? null : decimal(text);
}

function exact(value: number): number | null {
  return value <= Number.MAX_SAFE_INTEGER ? value : null;
}

/** A file with a single number, such as `/proc/sys/vm/swappiness`. */
export function parseNumber(text: string): number | null {
  return decimal(text.trim());
}

function parsePsi(line: string | undefined): Psi | null {
  const fields =
    line === undefined ? null : /^\w+ avg10=([\d.]+) avg60=([\d.]+) avg300=([\d.]+) total=(\d+)$/.exec(line);
  if (fields === null) return null;
  const [avg10 = null, avg60 = null, avg300 = null, totalUs = null] = fields.slice(1).map(decimal);
  if (avg10 === null || avg60 === null || avg300 === null || totalUs === null) return null;
  if (Math.max(avg10, avg60, avg300) > 100) return null;
  return { avg10, avg60, avg300, totalUs };
}

/** `/proc/pressure/memory`: two lines with percentages (0.30 means 0.3 %). */
export function parsePressure(text: string): Pressure | null {
  const lines = text.split('\n');
  const some = parsePsi(lines.find((line) => line.startsWith('some ')));
  const full = parsePsi(lines.find((line) => line.startsWith('full ')));
  return some !== null && full !== null ? { some, full } : null;
}

export interface Contiguity {
  blocks: FreeBlocks[];
  /** Counted zone: "Normal", or "all" on machines too small to have a zone Normal. */
  zone: string;
}

/** Orders are at most 13 on arm64 with 4 KiB pages, 15 elsewhere. */
const MOST_ORDERS = 24;

/**
 * `/proc/buddyinfo`, zone Normal summed over nodes. The number of orders comes from the file: DGX OS kernels have
 * blocks of 16 and 32 MiB, which a fixed table of eleven columns would drop. One line that is not readable makes the
 * sum unknown.
 */
export function parseBuddyinfo(text: string, pageBytes: number): Contiguity | null {
  const rows = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(parseBuddyinfoLine);
  if (rows.length === 0 || !rows.every((row) => row !== null)) return null;
  const normal = rows.filter((row) => row.zone === 'Normal');
  const countedRows = normal.length > 0 ? normal : rows;
  const orders = Math.max(...countedRows.map((row) => row.counts.length));
  // A shorter row is one that was cut off: its largest blocks would be missing from the sum.
  if (orders > MOST_ORDERS || countedRows.some((row) => row.counts.length < orders)) return null;
  const blocks = Array.from({ length: orders }, (_, order) => ({
    order,
    blockBytes: pageBytes * 2 ** order,
    freeBlocks: countedRows.reduce((sum, row) => sum + (row.counts[order] as number), 0),
  }));
  const freeBytes = blocks.reduce((sum, { blockBytes, freeBlocks }) => sum + blockBytes * freeBlocks, 0);
  return exact(freeBytes) === null ? null : { blocks, zone: normal.length > 0 ? 'Normal' : 'all' };
}

function parseBuddyinfoLine(line: string): { zone: string; counts: number[] } | null {
  const match = /^Node +\d+, +zone +(\S+) +(\d[\d ]*)$/.exec(line);
  if (match === null) return null;
  const [, zone = '', columns = ''] = match;
  const counts = columns.trim().split(/ +/).map(decimal);
  return counts.every((count) => count !== null) ? { zone, counts } : null;
}

/**
 * Selected counters of `/proc/vmstat`, which has one "name value" per line. A name that ends in `*` gives the sum of
 * all counters with that prefix (allocstall has one per zone). The text is searched instead of split, because ten of 180
 * lines matter, and each name from the one before: names in the file's order are found in one pass. null: there is no
 * such counter, or one of its values is no number.
 */
export function parseVmstat(text: string, names: readonly string[]): (number | null)[] {
  const lines = `\n${text}`;
  let from = 0;
  return names.map((name) => {
    if (name.endsWith('*')) return sumOf(lines, `\n${name.slice(0, -1)}`);
    let at = lines.indexOf(`\n${name} `, from);
    if (at === -1) at = lines.indexOf(`\n${name} `);
    if (at === -1) return null;
    from = at;
    return valueAt(lines, at);
  });
}

/** The sum over all lines that begin with `start`. */
function sumOf(lines: string, start: string): number | null {
  let sum: number | null = null;
  for (let at = lines.indexOf(start); at !== -1; at = lines.indexOf(start, at + 1)) {
    const value = valueAt(lines, at);
    if (value === null) return null;
    sum = (sum ?? 0) + value;
  }
  return sum === null ? null : exact(sum);
}

/** The value of the line that begins after the line break at `at`. */
function valueAt(lines: string, at: number): number | null {
  const end = lines.indexOf('\n', at + 1);
  return wholeNumber(lines.slice(lines.indexOf(' ', at) + 1, end === -1 ? undefined : end));
}

/** `always [madvise] never` → `madvise`. */
export function parseChoice(text: string): string | null {
  return /\[(\w+)\]/.exec(text)?.[1] ?? null;
}

/** One parameter of `/proc/driver/nvidia/params`, which has one "Name: value" per line. */
export function parseDriverParameter(text: string, name: string): number | null {
  return decimal(new RegExp(`^${name}: (\\S+)$`, 'm').exec(text)?.[1]);
}

/** The version in the first line of `/proc/driver/nvidia/version`. */
export function parseDriverVersion(text: string): string | null {
  return /^NVRM version:.*?\s(\d+\.\d+(?:\.\d+)*)\s/m.exec(text)?.[1] ?? null;
}

export interface CgroupPath {
  version: 1 | 2;
  path: string;
}

/**
 * `/proc/self/cgroup`: the cgroup of the v1 memory controller ("4:memory:/path"), else the v2 cgroup ("0::/path"). A
 * hybrid system has both lines; the memory controller is then in the v1 hierarchy.
 */
export function parseCgroup(text: string): CgroupPath | null {
  const lines = text.split('\n').map((line) => /^(\d+):([^:]*):(.*)$/.exec(line));
  const v1 = lines.find((line) => line?.[2]?.split(',').includes('memory'));
  if (v1) return { version: 1, path: v1[3] as string };
  const v2 = lines.find((line) => line?.[1] === '0' && line[2] === '');
  return v2 ? { version: 2, path: v2[3] as string } : null;
}

/** memory.max and memory.limit_in_bytes. null: no limit, which is "max" in v2 and a huge number in v1. */
export function parseLimit(text: string): number | null {
  const value = parseNumber(text);
  return value !== null && value < 2 ** 62 ? value : null;
}

/**
 * A shrinker's `count` in debugfs, which has one "<inode of the memcg> <objects of node 0> <of node 1>…" per line. The
 * kernel leaves out lines without objects, so an empty file means 0.
 */
export function parseShrinkerCount(text: string): number | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const counts = lines.map((line) => line.trim().split(/\s+/).map(decimal));
  let sum = 0;
  for (const [inode, ...objects] of counts) {
    if (inode === null || objects.length === 0) return null;
    for (const count of objects) {
      if (count === null) return null;
      sum += count;
    }
  }
  return exact(sum);
}
