/**
 * Parsers of small files in /proc and /sys: pure functions over text. A text that is not in the documented format gives
 * null, never 0 and never NaN.
 */

import type { FreeBlocks, Pressure, Psi } from '../../types/index.ts';

/**
 * A text that consists of one decimal number; null for any other, such as "[N/A]", "max" and "", and for a number above
 * 2^53, which would be inexact or Infinity.
 */
export function decimal(text: string | undefined): number | null {
  return text !== undefined && /^\d+(\.\d+)?$/.test(text) ? exact(Number(text)) : null;
}

/** A text that consists of one whole number; null for any other. */
function wholeNumber(text: string | undefined): number | null {
  return text !== undefined && /^\d+$/.test(text) ? exact(Number(text)) : null;
}

function exact(value: number): number | null {
  return value <= Number.MAX_SAFE_INTEGER ? value : null;
}

/** A file with a single number, such as `/proc/sys/vm/swappiness`. */
export function parseNumber(text: string): number | null {
  return decimal(text.trim());
}

const PSI_LINE = /^\w+ avg10=(\d+(?:\.\d+)?) avg60=(\d+(?:\.\d+)?) avg300=(\d+(?:\.\d+)?) total=(\d+)$/;

function parsePsi(line: string | undefined): Psi | null {
  const fields = line === undefined ? null : PSI_LINE.exec(line);
  if (fields === null) return null;
  const [avg10, avg60, avg300, totalUs] = [Number(fields[1]), Number(fields[2]), Number(fields[3]), Number(fields[4])];
  if (Math.max(avg10, avg60, avg300) > 100 || exact(totalUs) === null) return null;
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
  const rows: { zone: string; counts: number[] }[] = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const row = parseBuddyinfoLine(line);
    if (row === null) return null;
    rows.push(row);
  }
  const normal = rows.filter((row) => row.zone === 'Normal');
  const countedRows = normal.length > 0 ? normal : rows;
  const orders = Math.max(0, ...countedRows.map((row) => row.counts.length));
  // A shorter row is one that was cut off: its largest blocks would be missing from the sum.
  if (orders === 0 || orders > MOST_ORDERS || countedRows.some((row) => row.counts.length < orders)) return null;
  const blocks: FreeBlocks[] = [];
  let freeBytes = 0;
  for (let order = 0; order < orders; order++) {
    const blockBytes = pageBytes * 2 ** order;
    let freeBlocks = 0;
    for (const { counts } of countedRows) freeBlocks += counts[order] as number;
    blocks.push({ order, blockBytes, freeBlocks, movableBlocks: null });
    freeBytes += blockBytes * freeBlocks;
  }
  return exact(freeBytes) === null ? null : { blocks, zone: normal.length > 0 ? 'Normal' : 'all' };
}

function parseBuddyinfoLine(line: string): { zone: string; counts: number[] } | null {
  const [, zone, rest] = /^Node +\d+, +zone +(\S+) +(\d[\d ]*)$/.exec(line) ?? [];
  if (zone === undefined || rest === undefined) return null;
  const counts = rest.match(/\d+/g)?.map(Number) ?? [];
  return counts.every(Number.isSafeInteger) ? { zone, counts } : null;
}

/**
 * Selected counters of `/proc/vmstat`, which has one "name value" per line. A name that ends in `*` gives the sum of
 * all counters with that prefix (allocstall has one per zone). null: there is no such counter, or one of its values is no
 * number.
 */
export function parseVmstat(text: string, names: readonly string[]): (number | null)[] {
  const line = new RegExp(
    `\\n(${names.map((name) => name.replace('*', '[^ \\n]*')).join('|')})(?: ([^\\n]*))?(?=\\n|$)`,
    'g',
  );
  // One search for all of them: the text has 5 kB.
  const found = [...`\n${text}`.matchAll(line)];
  return names.map((name) => {
    if (!name.endsWith('*')) return wholeNumber(found.find(([, key]) => key === name)?.[2]);
    const ofPrefix = found.filter(([, key]) => key?.startsWith(name.slice(0, -1)));
    return sumOf(ofPrefix.map(([, , value]) => value));
  });
}

/** null: there are no numbers, one of the texts is none, or the sum is not exact. */
function sumOf(numbers: readonly (string | undefined)[]): number | null {
  let sum = 0;
  for (const text of numbers) {
    const value = wholeNumber(text);
    if (value === null) return null;
    sum += value;
  }
  return numbers.length === 0 ? null : exact(sum);
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
