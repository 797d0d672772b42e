/** Limits of this process's cgroup, as context for the report: CUDA memory is not charged to a cgroup. */

import type { Fact } from '../base/errors.ts';
import { isFailure, type Provenance, reason } from '../base/facts.ts';
import type { NativeBinding } from '../native/contract.ts';
import type { CgroupLimits } from '../types/index.ts';
import { type Kept, type KernelFiles, parseFact, readSeldom } from './files.ts';
import { type CgroupPath, parseCgroup, parseLimit, parseNumber } from './procfs.ts';

const ROOTS = { 1: '/sys/fs/cgroup/memory', 2: '/sys/fs/cgroup' } as const;
const NAMES = {
  1: { limit: 'memory.limit_in_bytes', high: null, current: 'memory.usage_in_bytes' },
  2: { limit: 'memory.max', high: 'memory.high', current: 'memory.current' },
} as const;

const CGROUP = { file: '/proc/self/cgroup', path: 'cgroup', parse: parseCgroup };

/** The files of a cgroup and its visible ancestors that exist. */
interface Files {
  limit: string[];
  high: string[];
  current: string[];
}

/** The cgroup of this process; null: it is not known. A process is seldom moved to another one. */
export function readCgroup(files: KernelFiles): Kept<CgroupPath | null> | Promise<Kept<CgroupPath | null>> {
  return readSeldom(files, CGROUP, 'a second', async (own) => {
    const [text] = await files.read([CGROUP.file]);
    return parseFact(CGROUP, text, own);
  });
}

/**
 * The smallest limits that apply to a process in this cgroup, and the memory that the cgroup uses.
 *
 * @param usageText of `knownUsageFile`, if it was read already.
 */
export async function cgroupLimits(
  files: KernelFiles,
  cgroup: CgroupPath | null,
  provenance: Provenance,
  usageText?: Fact<string>,
): Promise<CgroupLimits | null> {
  if (cgroup === null) return null;
  const { version, path } = cgroup;
  const levels = partsOf(path).length;
  if (levels > MAX_LEVELS) {
    for (const name of ['limit', 'high', 'current'])
      provenance.record(
        `cgroup.${name}`,
        `not read: the cgroup's path has ${levels} levels, and at most ${MAX_LEVELS} are searched`,
      );
    return { version, path, limit: null, high: null, current: null };
  }
  const found = await filesOf(files, cgroup);
  const [{ sources, values }, text] = await Promise.all([
    readSeldom(files, `cgroup ${keyOf(cgroup)}`, 'a second', (own) => smallestLimits(files, found, own)),
    usageText ?? readUsage(files, found),
  ]);
  Object.assign(provenance.sources, sources);
  return { version, path, ...values, current: usage(found, text, provenance) };
}

async function smallestLimits(files: KernelFiles, found: Files, provenance: Provenance) {
  const smallest = async (name: 'limit' | 'high') => {
    const paths = found[name];
    let least: number | null = null;
    provenance.record(`cgroup.${name}`, paths.length === 0 ? 'this cgroup has no such file' : 'no limit set');
    for (const [index, text] of (await files.read(paths)).entries()) {
      // A limit that did not answer may be the smallest: what the others say is then not known to apply.
      if (isFailure(text) && text.name === 'TIMEOUT') {
        provenance.record(`cgroup.${name}`, reason(text));
        return null;
      }
      const value = isFailure(text) ? null : parseLimit(text);
      if (value === null || (least !== null && value >= least)) continue;
      least = value;
      provenance.record(`cgroup.${name}`, paths[index] as string);
    }
    return least;
  };
  const [limit, high] = await Promise.all([smallest('limit'), smallest('high')]);
  return { limit, high };
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
  return (await filesOf(files, cgroup)).current[0] ?? null;
}

/** The same where it is known without a search; null: it is not. */
export function knownUsageFile({ binding }: KernelFiles, cgroup: CgroupPath | null): string | null {
  return (cgroup === null ? undefined : known.get(binding)?.get(keyOf(cgroup))?.current[0]) ?? null;
}

/** Longest text of a number. */
export const USAGE_BYTES = 64;

async function readUsage(files: KernelFiles, { current }: Files): Promise<Fact<string> | undefined> {
  const [path] = current;
  return path === undefined ? undefined : (await files.reread([path], [USAGE_BYTES]))[0];
}

function usage({ current }: Files, text: Fact<string> | undefined, provenance: Provenance): number | null {
  const [path] = current;
  if (path !== undefined)
    return parseFact({ file: path, path: 'cgroup.current', parse: parseNumber }, text, provenance);
  provenance.record('cgroup.current', 'this cgroup has no such file');
  return null;
}

/** Errors that say nothing about the file: it did not answer, or this process has no descriptors or memory now. */
const TEMPORARY: readonly string[] = ['TIMEOUT', 'EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN'];

const known = new WeakMap<NativeBinding, Map<string, Files>>();

/**
 * The existing files from this cgroup up to the visible root, which in a container is the container's own cgroup.
 * Searched once per cgroup: half of the candidates do not exist, and a failed open takes as long as a read. A file that
 * does not answer exists.
 */
function filesOf(files: KernelFiles, cgroup: CgroupPath): Files | Promise<Files> {
  return known.get(files.binding)?.get(keyOf(cgroup)) ?? findFiles(files, cgroup);
}

async function findFiles(files: KernelFiles, cgroup: CgroupPath): Promise<Files> {
  const { version, path } = cgroup;
  const parts = partsOf(path);
  const folders = [...parts.keys()].map((depth) => [ROOTS[version], ...parts.slice(0, parts.length - depth)].join('/'));
  folders.push(ROOTS[version]);
  let isCertain = true;
  const existing = async (name: string | null) => {
    if (name === null) return [];
    const paths = folders.map((folder) => `${folder}/${name}`);
    const texts = await files.read(paths);
    isCertain &&= !texts.some((text) => isFailure(text) && TEMPORARY.includes(text.name));
    return paths.filter((_, index) => {
      const text = texts[index];
      return !isFailure(text) || text.name === 'TIMEOUT';
    });
  };
  const names = NAMES[version];
  const [limit, high, current] = await Promise.all([
    existing(names.limit),
    existing(names.high),
    existing(names.current),
  ]);
  const found = { limit, high, current: current.slice(0, 1) };
  if (isCertain) {
    const ofBinding = known.get(files.binding) ?? new Map<string, Files>();
    known.set(files.binding, ofBinding.set(keyOf(cgroup), found));
  }
  return found;
}

function keyOf({ path, version }: CgroupPath): string {
  return `${version}:${path}`;
}
