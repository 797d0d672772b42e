/** Limits of this process's cgroup, as context for the report: CUDA memory is not charged to a cgroup. */

import { isFailure, type Provenance } from '../base/facts.ts';
import type { NativeBinding } from '../native/contract.ts';
import type { CgroupLimits } from '../types/index.ts';
import { readSeldom } from './files.ts';
import { type CgroupPath, parseLimit, parseNumber } from './procfs.ts';

const ROOTS = { 1: '/sys/fs/cgroup/memory', 2: '/sys/fs/cgroup' } as const;
const NAMES = {
  1: { limit: 'memory.limit_in_bytes', high: null, current: 'memory.usage_in_bytes' },
  2: { limit: 'memory.max', high: 'memory.high', current: 'memory.current' },
} as const;

/** The files of a cgroup and its visible ancestors that exist. */
interface Files {
  limit: string[];
  high: string[];
  current: string[];
}

/** The smallest limits that apply to this process, and the memory that its own cgroup uses. */
export function cgroupLimits(
  binding: NativeBinding,
  cgroup: CgroupPath | null,
  provenance: Provenance,
): CgroupLimits | null {
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
  const key = `cgroup ${version}:${path}`;
  const { limit, high } = readSeldom(binding, key, provenance, 'a second', (own) =>
    smallestLimits(binding, cgroup, own),
  );
  return { version, path, limit, high, current: usage(binding, cgroup, provenance) };
}

function smallestLimits(binding: NativeBinding, cgroup: CgroupPath, provenance: Provenance) {
  const files = filesOf(binding, cgroup);
  const smallest = (name: 'limit' | 'high') => {
    let least: number | null = null;
    provenance.record(`cgroup.${name}`, files[name].length === 0 ? 'this cgroup has no such file' : 'no limit set');
    for (const [index, text] of binding.readFiles(files[name]).entries()) {
      const value = isFailure(text) ? null : parseLimit(text);
      if (value === null || (least !== null && value >= least)) continue;
      least = value;
      provenance.record(`cgroup.${name}`, files[name][index] as string);
    }
    return least;
  };
  return { limit: smallest('limit'), high: smallest('high') };
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
export function cgroupUsageFile(binding: NativeBinding, cgroup: CgroupPath): string | null {
  if (partsOf(cgroup.path).length > MAX_LEVELS) return null;
  return filesOf(binding, cgroup).current[0] ?? null;
}

function usage(binding: NativeBinding, cgroup: CgroupPath, provenance: Provenance): number | null {
  const path = cgroupUsageFile(binding, cgroup);
  provenance.record('cgroup.current', path ?? 'this cgroup has no such file');
  const [text] = path === null ? [] : binding.rereadFiles([path], 64);
  return text === undefined || isFailure(text) ? null : parseNumber(text);
}

/** Errors that say nothing about the file: this process has no descriptors or memory at this moment. */
const TEMPORARY: readonly string[] = ['EMFILE', 'ENFILE', 'ENOMEM'];

const filesByCgroup = new Map<string, Files>();

/**
 * The existing files from this cgroup up to the visible root, which in a container is the container's own cgroup.
 * Searched once per cgroup: half of the candidates do not exist, and a failed open takes as long as a read.
 */
function filesOf(binding: NativeBinding, { version, path }: CgroupPath): Files {
  const key = `${version}:${path}`;
  const known = filesByCgroup.get(key);
  if (known !== undefined) return known;
  const parts = partsOf(path);
  const folders = [...parts.keys()].map((depth) => [ROOTS[version], ...parts.slice(0, parts.length - depth)].join('/'));
  folders.push(ROOTS[version]);
  let isCertain = true;
  const existing = (name: string | null) => {
    if (name === null) return [];
    const paths = folders.map((folder) => `${folder}/${name}`);
    const texts = binding.readFiles(paths);
    isCertain &&= !texts.some((text) => isFailure(text) && TEMPORARY.includes(text.name));
    return paths.filter((_, index) => !isFailure(texts[index]));
  };
  const { limit, high, current } = NAMES[version];
  const files = { limit: existing(limit), high: existing(high), current: existing(current).slice(0, 1) };
  if (isCertain) filesByCgroup.set(key, files);
  return files;
}
