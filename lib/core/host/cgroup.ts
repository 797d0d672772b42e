/** Limits of this process's cgroup, as context for the report: CUDA memory is not charged to a cgroup. */

import type { Fact } from '../../base/errors.ts';
import { isFailure, type Provenance, reason } from '../../base/facts.ts';
import type { CgroupLimits } from '../../types/index.ts';
import { type KernelFiles, parseFact, readSeldom } from './files.ts';
import { type CgroupPath, parseCgroup, parseNumber } from './procfs.ts';

const ROOTS = { 1: '/sys/fs/cgroup/memory', 2: '/sys/fs/cgroup' } as const;
const NAMES = {
  1: { limit: 'memory.limit_in_bytes', high: null, current: 'memory.usage_in_bytes' },
  2: { limit: 'memory.max', high: 'memory.high', current: 'memory.current' },
} as const;
type Name = keyof (typeof NAMES)[1];

const CGROUP = { file: '/proc/self/cgroup', path: 'cgroup', parse: parseCgroup };

/** A cgroup as it is read at most once a second, and the file with its memory usage, which is read each time. */
export interface CgroupReading {
  limits: Omit<CgroupLimits, 'current'>;
  /** null: it is not readable here. */
  usageFile: string | null;
}

/** The cgroup of this process; null: it is not known. */
export async function readCgroup(files: KernelFiles, provenance: Provenance): Promise<CgroupReading | null> {
  const { sources, values } = await readSeldom(files, CGROUP, 'a second', async (own) => {
    const [text] = await files.read([CGROUP.file]);
    const cgroup = parseFact(CGROUP, text, own);
    return { reading: cgroup === null ? null : await cgroupLimits(files, cgroup, own) };
  });
  Object.assign(provenance.sources, sources);
  return values.reading;
}

/** The smallest limits that apply to a process in this cgroup. */
export async function cgroupLimits(
  files: KernelFiles,
  cgroup: CgroupPath,
  provenance: Provenance,
): Promise<CgroupReading> {
  const { path, version } = cgroup;
  const levels = partsOf(path).length;
  if (levels > MAX_LEVELS) {
    for (const name of ['limit', 'high', 'current'])
      provenance.record(
        `cgroup.${name}`,
        `not read: the cgroup's path has ${levels} levels, and at most ${MAX_LEVELS} are searched`,
      );
    return { limits: { version, path, limit: null, high: null }, usageFile: null };
  }
  const [limit, high, usageFile] = await Promise.all([
    smallest(files, cgroup, 'limit', provenance),
    smallest(files, cgroup, 'high', provenance),
    cgroupUsageFile(files, cgroup),
  ]);
  if (usageFile === null) provenance.record('cgroup.current', 'this cgroup has no such file');
  return { limits: { version, path, limit, high }, usageFile };
}

/** The limits with the memory that the cgroup uses, from the text of its file. */
export function withUsage(
  reading: CgroupReading | null,
  text: Fact<string> | undefined,
  provenance: Provenance,
): CgroupLimits | null {
  if (reading === null) return null;
  const { limits, usageFile: file } = reading;
  const row = { file: file ?? '', path: 'cgroup.current', parse: parseNumber };
  return { ...limits, current: file === null ? null : parseFact(row, text, provenance) };
}

/** The smallest limit of this name from the cgroup up. */
async function smallest(
  files: KernelFiles,
  cgroup: CgroupPath,
  name: 'limit' | 'high',
  provenance: Provenance,
): Promise<number | null> {
  const found = await existing(files, cgroup, name);
  let least: number | null = null;
  provenance.record(`cgroup.${name}`, found.length === 0 ? 'this cgroup has no such file' : 'no limit set');
  for (const { path, text } of found) {
    // A limit that did not answer may be the smallest: it is not known then that the others apply.
    if (isFailure(text)) {
      provenance.record(`cgroup.${name}`, reason(text));
      return null;
    }
    // No limit is "max" in v2, and in v1 a number beyond those that are exact.
    const value = parseNumber(text);
    if (value === null || (least !== null && value >= least)) continue;
    least = value;
    provenance.record(`cgroup.${name}`, path);
  }
  return least;
}

/**
 * Levels of a cgroup that are searched. Real ones have fewer than 20; each level costs six file names, and the names of
 * a path with 50,000 levels would not fit into memory.
 */
const MAX_LEVELS = 256;

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '..');
}

/** The file with the memory usage of a cgroup; null: it is not readable here. */
export async function cgroupUsageFile(files: KernelFiles, cgroup: CgroupPath): Promise<string | null> {
  if (partsOf(cgroup.path).length > MAX_LEVELS) return null;
  return (await existing(files, cgroup, 'current'))[0]?.path ?? null;
}

/**
 * The files of this name from the cgroup up to the visible root, which in a container is the container's own cgroup. A
 * file that does not answer exists.
 */
async function existing(
  files: KernelFiles,
  { path, version }: CgroupPath,
  name: Name,
): Promise<{ path: string; text: Fact<string> }[]> {
  const fileName = NAMES[version][name];
  if (fileName === null) return [];
  const parts = partsOf(path);
  const folders = [...parts.keys()].map((depth) => [ROOTS[version], ...parts.slice(0, parts.length - depth)].join('/'));
  const paths = [...folders, ROOTS[version]].map((folder) => `${folder}/${fileName}`);
  const texts = await files.read(paths);
  return texts
    .map((text, index) => ({ path: paths[index] as string, text }))
    .filter(({ text }) => !isFailure(text) || text.name === 'TIMEOUT');
}
