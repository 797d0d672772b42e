/** Parsers of /proc/<pid>/{status,smaps_rollup,cgroup}, /proc/self/mountinfo and /proc/sysvipc/shm. */

import { KiB } from '../../base/format.ts';

/** The lines of `/proc/<pid>/status` that say who a process is and what it holds. Bytes; null: no such line. */
export interface StatusFacts {
  name: string;
  parentPid: number;
  uid: number;
  rss: number;
  anonymous: number | null;
  file: number | null;
  shared: number | null;
  swap: number | null;
  locked: number | null;
  peakRss: number | null;
}

/** null: a kernel thread or a zombie, which have no memory (no VmRSS), or not the kernel's format. */
export function parseStatus(text: string): StatusFacts | null {
  const rss = kilobytes(text, 'VmRSS');
  const parentPid = wholeNumber(lineOf(text, 'PPid'));
  const uid = wholeNumber(lineOf(text, 'Uid')?.split('\t')[0]);
  if (rss === null || parentPid === null || uid === null) return null;
  return {
    name: unescaped(lineOf(text, 'Name') ?? ''),
    parentPid,
    uid,
    rss,
    anonymous: kilobytes(text, 'RssAnon'),
    file: kilobytes(text, 'RssFile'),
    shared: kilobytes(text, 'RssShmem'),
    swap: kilobytes(text, 'VmSwap'),
    locked: kilobytes(text, 'VmLck'),
    peakRss: kilobytes(text, 'VmHWM'),
  };
}

/** The sums of `/proc/<pid>/smaps_rollup` in bytes. */
export interface RollupFacts {
  total: number;
  anonymous: number;
  file: number;
  shared: number;
  /** Its share of memory that the kernel may not take back (mlock). */
  locked: number;
}

/**
 * Pss, and its parts. null: not the kernel's format, which is so for a process without memory, and on kernels before
 * 5.3, which do not split Pss.
 */
export function parseRollup(text: string): RollupFacts | null {
  const [total, anonymous, file, shared] = ['Pss', 'Pss_Anon', 'Pss_File', 'Pss_Shmem'].map((name) =>
    kilobytes(text, name),
  );
  if (total == null || anonymous == null || file == null || shared == null) return null;
  return { total, anonymous, file, shared, locked: kilobytes(text, 'Locked') ?? 0 };
}

/** Text after "Name:" up to the line's end; undefined: no such line. The text is searched: of 60 lines ten matter. */
function lineOf(text: string, name: string): string | undefined {
  const start = text.startsWith(`${name}:`) ? 0 : text.indexOf(`\n${name}:`) + 1;
  if (start === 0 && !text.startsWith(`${name}:`)) return undefined;
  const end = text.indexOf('\n', start);
  return text.slice(start + name.length + 1, end === -1 ? undefined : end).trim();
}

/** "  1234 kB" → bytes; null for any other text. */
function kilobytes(text: string, name: string): number | null {
  const value = lineOf(text, name);
  if (value === undefined || !value.endsWith(' kB')) return null;
  const count = wholeNumber(value.slice(0, -3));
  return count === null || !Number.isSafeInteger(count * KiB) ? null : count * KiB;
}

function wholeNumber(text: string | undefined): number | null {
  if (text === undefined || !/^\d{1,16}$/.test(text)) return null;
  return Number(text);
}

/** The kernel writes a backslash and a line break in a name as \\ and \n. */
function unescaped(name: string): string {
  return name.replace(/\\(\\|n)/g, (_, letter) => (letter === 'n' ? '\n' : '\\'));
}

/** Mount points of tmpfs file systems, each file system once, by `/proc/self/mountinfo`. */
export function parseTmpfsMounts(text: string): string[] {
  const byDevice = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [before = '', after = ''] = line.split(' - ');
    // id, parent id, major:minor, root, mount point, options, optional fields.
    const fields = before.split(' ');
    const [, , device, root, point] = fields;
    if (device === undefined || point === undefined || after.split(' ')[0] !== 'tmpfs') continue;
    // A bind mount of a folder is a part of the same file system.
    if (root === '/' && !byDevice.has(device)) byDevice.set(device, octal(point));
  }
  // One that is mounted over another hides it.
  return [...new Set(byDevice.values())];
}

/**
 * Size in bytes of the tmpfs that is mounted at `point` now; `half`: of memory, the default, which the kernel does not
 * write; null: there is none.
 */
export function parseTmpfsSize(text: string, point: string): number | 'half' | null {
  let size: number | 'half' | null = null;
  for (const line of text.split('\n')) {
    const [before = '', after = ''] = line.split(' - ');
    if (octal(before.split(' ')[4] ?? '') !== point) continue;
    // The last one hides the others. "tmpfs shm rw,size=65536k,inode64"
    const [type, , options = ''] = after.split(' ');
    const kilobytes = /(?:^|,)size=(\d{1,12})k(?:,|$)/.exec(options)?.[1];
    size = type !== 'tmpfs' ? null : kilobytes === undefined ? 'half' : Number(kilobytes) * KiB;
  }
  return size;
}

/** The kernel writes space, tab, line break and backslash as \040, \011, \012 and \134. */
function octal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits) => String.fromCharCode(Number.parseInt(digits, 8)));
}

/** Resident bytes of all System V segments; null: not the kernel's format. */
export function parseSysvSegments(text: string): number | null {
  const [heading = '', ...lines] = text.trimEnd().split('\n');
  const column = heading.trim().split(/\s+/).indexOf('rss');
  if (column === -1) return null;
  let sum = 0;
  for (const line of lines) {
    const value = wholeNumber(line.trim().split(/\s+/)[column]);
    if (value === null) return null;
    sum += value;
  }
  return sum;
}
