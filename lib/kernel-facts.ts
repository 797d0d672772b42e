import type { Fact, NativeBinding } from './native.types.ts';
import {
  type CgroupPath,
  parseBuddyinfo,
  parseCgroup,
  parseChoice,
  parseDriverParameter,
  parseDriverVersion,
  parseLimit,
  parseNumber,
  parsePressure,
  parseShrinkerCount,
  parseVmstat,
} from './procfs.ts';
import { isFailure, type Origins, reason } from './reason.ts';
import type { CgroupLimits, DriverFacts, FreeBlocks, KernelMemory, Pressure } from './types.ts';

export interface KernelFacts {
  bootId: string | null;
  pressure: Pressure | null;
  contiguity: FreeBlocks[] | null;
  kernel: KernelMemory;
  driver: DriverFacts;
  cgroup: CgroupLimits | null;
}

/** What cannot change while this process has the machine under it, and is read once. */
const CONSTANT_FILES = {
  bootId: '/proc/sys/kernel/random/boot_id',
  release: '/proc/sys/kernel/osrelease',
  driverVersion: '/proc/driver/nvidia/version',
  driverParams: '/proc/driver/nvidia/params',
} as const;

const FILES = {
  pressure: '/proc/pressure/memory',
  buddyinfo: '/proc/buddyinfo',
  vmstat: '/proc/vmstat',
  minFree: '/proc/sys/vm/min_free_kbytes',
  watermarkScaleFactor: '/proc/sys/vm/watermark_scale_factor',
  watermarkBoostFactor: '/proc/sys/vm/watermark_boost_factor',
  swappiness: '/proc/sys/vm/swappiness',
  compactionProactiveness: '/proc/sys/vm/compaction_proactiveness',
  transparentHugePages: '/sys/kernel/mm/transparent_hugepage/enabled',
  cgroup: '/proc/self/cgroup',
} as const;

const COUNTERS = {
  compactStall: 'compact_stall',
  compactFail: 'compact_fail',
  compactSuccess: 'compact_success',
  pgscanDirect: 'pgscan_direct',
  pgstealDirect: 'pgsteal_direct',
  pgscanKswapd: 'pgscan_kswapd',
  pgstealKswapd: 'pgsteal_kswapd',
  allocstall: 'allocstall*',
  oomKill: 'oom_kill',
  pgmajfault: 'pgmajfault',
} as const;

const SHRINKERS = '/sys/kernel/debug/shrinker';

type Texts = Fact<string>[];
const constantTexts = new WeakMap<NativeBinding, Texts>();

/** Kept from the first time that all of them could be read: until then a driver may still be loaded. */
function readConstants(binding: NativeBinding, paths: string[]): Texts {
  const kept = constantTexts.get(binding);
  if (kept !== undefined) return kept;
  const texts = binding.readFiles(paths);
  if (!texts.some(isFailure)) constantTexts.set(binding, texts);
  return texts;
}

/** Reads files in one call of the binary and hands out their texts; why one is missing goes to the origins. */
function reader(binding: NativeBinding, origins: Origins) {
  return <Name extends string>(files: Record<Name, string>, read = (paths: string[]): Texts => binding.readFiles(paths)) => {
    const names = Object.keys(files) as Name[];
    const texts = read(names.map((name) => files[name]));
    /** Parses one of the files; a text that is not as documented is null too. */
    return <T>(name: Name, path: string, parse: (text: string) => T | null): T | null => {
      const text = texts[names.indexOf(name)];
      if (text === undefined || isFailure(text)) {
        origins.note(path, text === undefined ? `${files[name]}: not read` : reason(text));
        return null;
      }
      const value = parse(text);
      origins.note(path, value === null ? `${files[name]}: not in this kernel’s file` : files[name]);
      return value;
    };
  };
}

/** Everything but meminfo: pressure, free blocks, settings, counters, driver parameters and cgroup limits. */
export function readKernelFacts(binding: NativeBinding, origins: Origins): KernelFacts {
  const read = reader(binding, origins);
  const file = read(FILES);
  const constant = read(CONSTANT_FILES, (paths) => readConstants(binding, paths));
  const counters = file('vmstat', 'kernel.vmstat', (text) => parseVmstat(text, Object.values(COUNTERS)));
  const counter = (name: keyof typeof COUNTERS) => counters?.[Object.keys(COUNTERS).indexOf(name)] ?? null;
  const pools = constant('driverParams', 'driver.systemMemoryPools', (text) => parseDriverParameter(text, 'EnableSystemMemoryPools'));
  return {
    bootId: constant('bootId', 'bootId', (text) => text.trim() || null),
    pressure: file('pressure', 'pressure', parsePressure),
    contiguity: freeBlocks(file('buddyinfo', 'contiguity', (text) => parseBuddyinfo(text, binding.pageSize())), origins),
    kernel: {
      release: constant('release', 'kernel.release', (text) => text.trim() || null),
      minFree: file('minFree', 'kernel.minFree', (text) => kiB(parseNumber(text))),
      watermarkScaleFactor: file('watermarkScaleFactor', 'kernel.watermarkScaleFactor', parseNumber),
      watermarkBoostFactor: file('watermarkBoostFactor', 'kernel.watermarkBoostFactor', parseNumber),
      swappiness: file('swappiness', 'kernel.swappiness', parseNumber),
      compactionProactiveness: file('compactionProactiveness', 'kernel.compactionProactiveness', parseNumber),
      transparentHugePages: file('transparentHugePages', 'kernel.transparentHugePages', parseChoice),
      compactStall: counter('compactStall'),
      compactFail: counter('compactFail'),
      compactSuccess: counter('compactSuccess'),
      pgscanDirect: counter('pgscanDirect'),
      pgstealDirect: counter('pgstealDirect'),
      pgscanKswapd: counter('pgscanKswapd'),
      pgstealKswapd: counter('pgstealKswapd'),
      allocstall: counter('allocstall'),
      oomKill: counter('oomKill'),
      pgmajfault: counter('pgmajfault'),
    },
    driver: {
      version: constant('driverVersion', 'driver.version', parseDriverVersion),
      systemMemoryPools: pools,
      poolBytes: poolBytes(binding, pools, origins),
    },
    cgroup: cgroupLimits(binding, file('cgroup', 'cgroup', parseCgroup), origins),
  };
}

function kiB(value: number | null): number | null {
  return value === null ? null : value * 1024;
}

function freeBlocks(counted: ReturnType<typeof parseBuddyinfo>, origins: Origins): FreeBlocks[] | null {
  if (counted === null) return null;
  if (counted.zone !== 'Normal') origins.note('contiguity', `${FILES.buddyinfo}, all zones (this machine has no zone Normal)`);
  return counted.blocks;
}

/**
 * Bytes in the driver's page pools. A pool's shrinker counts pool pages, not base pages: order 9 is 2 MiB each. The
 * directory is only listed where the driver has the parameter at all, because it has hundreds of entries.
 */
function poolBytes(binding: NativeBinding, parameter: number | null, origins: Origins): number | null {
  if (parameter === null || parameter === 0) {
    origins.note('driver.poolBytes', parameter === 0 ? 'EnableSystemMemoryPools is 0: no pools' : 'this driver has no page pools parameter');
    return parameter === 0 ? 0 : null;
  }
  const names = binding.listDirectory(SHRINKERS);
  if (isFailure(names)) {
    origins.note('driver.poolBytes', reason(names));
    return null;
  }
  const pools = names.map((name) => /^nv-sysmem-alloc-node-\d+-order-(\d+)(?:-\d+)?$/.exec(name)).filter((match) => match !== null);
  const texts = binding.readFiles(pools.map((match) => `${SHRINKERS}/${match[0]}/count`));
  let bytes = 0;
  for (const [at, text] of texts.entries()) {
    const count = isFailure(text) ? null : parseShrinkerCount(text);
    if (count === null) {
      origins.note('driver.poolBytes', isFailure(text) ? reason(text) : `${SHRINKERS}/${pools[at]?.[0]}/count: not a count`);
      return null;
    }
    bytes += count * binding.pageSize() * 2 ** Number(pools[at]?.[1]);
  }
  origins.note('driver.poolBytes', pools.length === 0 ? `${SHRINKERS}: no nv-sysmem-alloc shrinker` : `${SHRINKERS}/nv-sysmem-alloc-*/count`);
  return pools.length === 0 ? null : bytes;
}

const ROOTS = { 1: '/sys/fs/cgroup/memory', 2: '/sys/fs/cgroup' } as const;
const LIMIT_FILES = {
  1: { limit: 'memory.limit_in_bytes', current: 'memory.usage_in_bytes' },
  2: { limit: 'memory.max', high: 'memory.high', current: 'memory.current' },
} as const;

type CgroupFile = { kind: 'limit' | 'high' | 'current'; path: string };
const cgroupFiles = new Map<string, CgroupFile[]>();

/**
 * The limit files that exist from this cgroup up to the root that is visible here; a container sees its own cgroup as
 * that root. Looked for once per cgroup: half of the candidates do not exist, and a failed open costs as much as a read.
 */
function findCgroupFiles(binding: NativeBinding, { version, path }: CgroupPath): CgroupFile[] {
  const key = `${version}:${path}`;
  const kept = cgroupFiles.get(key);
  if (kept !== undefined) return kept;
  const parts = path.split('/').filter((part) => part !== '' && part !== '..');
  const folders = [...parts.map((_, depth) => [ROOTS[version], ...parts.slice(0, parts.length - depth)].join('/')), ROOTS[version]];
  const candidates = (Object.entries(LIMIT_FILES[version]) as [CgroupFile['kind'], string][]).flatMap(([kind, name]) => folders.map((folder) => ({ kind, path: `${folder}/${name}` })));
  const texts = binding.readFiles(candidates.map((candidate) => candidate.path));
  const found = candidates.filter((_, at) => !isFailure(texts[at]));
  const [usage] = found.filter(({ kind }) => kind === 'current');
  const files = found.filter((file) => file.kind !== 'current' || file === usage);
  cgroupFiles.set(key, files);
  return files;
}

/** The tightest limits that hold for this process, and what its own cgroup uses. */
function cgroupLimits(binding: NativeBinding, own: CgroupPath | null, origins: Origins): CgroupLimits | null {
  if (own === null) return null;
  const files = findCgroupFiles(binding, own);
  const texts = binding.readFiles(files.map((file) => file.path));
  const smallest = (kind: CgroupFile['kind'], parse: (text: string) => number | null) => {
    const values = files.map((file, at) => {
      const text = texts[at];
      return file.kind !== kind || text === undefined || isFailure(text) ? null : parse(text);
    });
    const known = values.filter((value) => value !== null);
    const at = values.indexOf(Math.min(...known));
    origins.note(`cgroup.${kind}`, files[at]?.path ?? (files.some((file) => file.kind === kind) ? 'no limit set' : 'this cgroup has no such file'));
    return known.length === 0 ? null : Math.min(...known);
  };
  return { version: own.version, path: own.path, limit: smallest('limit', parseLimit), high: smallest('high', parseLimit), current: smallest('current', parseNumber) };
}
