/** Limits of the cgroup that this process is in: context only, CUDA memory is not charged to any. */

import { isFailure, type Provenance } from '../base/facts.ts';
import type { NativeBinding } from '../native/contract.ts';
import type { CgroupLimits } from '../types/index.ts';
import { forASecond, readCached } from './files.ts';
import { type CgroupPath, parseLimit, parseNumber } from './procfs.ts';

const ROOTS = { 1: '/sys/fs/cgroup/memory', 2: '/sys/fs/cgroup' } as const;
const NAMES = {
  1: { limit: 'memory.limit_in_bytes', high: null, current: 'memory.usage_in_bytes' },
  2: { limit: 'memory.max', high: 'memory.high', current: 'memory.current' },
} as const;

interface Files {
  limit: string[];
  high: string[];
  current: string[];
}

const found = new Map<string, Files>();

/**
 * The files that exist from this cgroup up to the root that is visible here; a container sees its own cgroup as that
 * root. Looked for once per cgroup: half of the candidates do not exist, and a failed open costs as much as a reading.
 */
function files(binding: NativeBinding, { version, path }: CgroupPath): Files {
  const known = found.get(`${version}:${path}`);
  if (known !== undefined) return known;
  const parts = path.split('/').filter((part) => part !== '' && part !== '..');
  const folders = [...parts.keys()].map((depth) => [ROOTS[version], ...parts.slice(0, parts.length - depth)].join('/'));
  folders.push(ROOTS[version]);
  const existing = (name: string | null) => {
    if (name === null) return [];
    const paths = folders.map((folder) => `${folder}/${name}`);
    const texts = binding.readFiles(paths);
    return paths.filter((_, at) => !isFailure(texts[at]));
  };
  const { limit, high, current } = NAMES[version];
  const mine = { limit: existing(limit), high: existing(high), current: existing(current).slice(0, 1) };
  found.set(`${version}:${path}`, mine);
  return mine;
}

/** The tightest limits that hold for this process, and what its own cgroup uses. */
export function cgroupLimits(binding: NativeBinding, own: CgroupPath | null, origins: Provenance): CgroupLimits | null {
  if (own === null) return null;
  const mine = files(binding, own);
  const limits = [...mine.limit, ...mine.high];
  const texts = limits.length === 0 ? [] : readCached(binding, limits, forASecond);
  const smallest = (name: 'limit' | 'high') => {
    let least: number | null = null;
    origins.record(`cgroup.${name}`, mine[name].length === 0 ? 'this cgroup has no such file' : 'no limit set');
    for (const path of mine[name]) {
      const text = texts[limits.indexOf(path)];
      const value = text === undefined || isFailure(text) ? null : parseLimit(text);
      if (value === null || (least !== null && value >= least)) continue;
      least = value;
      origins.record(`cgroup.${name}`, path);
    }
    return least;
  };
  return {
    version: own.version,
    path: own.path,
    limit: smallest('limit'),
    high: smallest('high'),
    current: usage(binding, mine.current, origins),
  };
}

/** The file that says what a cgroup uses; null: it has none that can be read here. */
export function cgroupUsageFile(binding: NativeBinding, own: CgroupPath): string | null {
  return files(binding, own).current[0] ?? null;
}

function usage(binding: NativeBinding, [path]: string[], origins: Provenance): number | null {
  const [text] = path === undefined ? [] : binding.readFiles([path]);
  origins.record('cgroup.current', path ?? 'this cgroup has no such file');
  return text === undefined || isFailure(text) ? null : parseNumber(text);
}
