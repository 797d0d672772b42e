import type { NativeBinding } from './native.types.ts';
import {
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

const FILES = {
  bootId: '/proc/sys/kernel/random/boot_id',
  release: '/proc/sys/kernel/osrelease',
  pressure: '/proc/pressure/memory',
  buddyinfo: '/proc/buddyinfo',
  vmstat: '/proc/vmstat',
  minFree: '/proc/sys/vm/min_free_kbytes',
  watermarkScaleFactor: '/proc/sys/vm/watermark_scale_factor',
  watermarkBoostFactor: '/proc/sys/vm/watermark_boost_factor',
  swappiness: '/proc/sys/vm/swappiness',
  compactionProactiveness: '/proc/sys/vm/compaction_proactiveness',
  transparentHugePages: '/sys/kernel/mm/transparent_hugepage/enabled',
  driverVersion: '/proc/driver/nvidia/version',
  driverParams: '/proc/driver/nvidia/params',
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

/** Reads files in one call of the binary and hands out their texts; why one is missing goes to the origins. */
function reader(binding: NativeBinding, origins: Origins) {
  return <Name extends string>(files: Record<Name, string>) => {
    const names = Object.keys(files) as Name[];
    const texts = binding.readFiles(names.map((name) => files[name]));
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
  const counters = file('vmstat', 'kernel.vmstat', (text) => parseVmstat(text, Object.values(COUNTERS)));
  const counter = (name: keyof typeof COUNTERS) => counters?.[Object.keys(COUNTERS).indexOf(name)] ?? null;
  const pools = file('driverParams', 'driver.systemMemoryPools', (text) => parseDriverParameter(text, 'EnableSystemMemoryPools'));
  return {
    bootId: file('bootId', 'bootId', (text) => text.trim() || null),
    pressure: file('pressure', 'pressure', parsePressure),
    contiguity: freeBlocks(file('buddyinfo', 'contiguity', (text) => parseBuddyinfo(text, binding.pageSize())), origins),
    kernel: {
      release: file('release', 'kernel.release', (text) => text.trim() || null),
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
      version: file('driverVersion', 'driver.version', parseDriverVersion),
      systemMemoryPools: pools,
      poolBytes: poolBytes(binding, pools, origins),
    },
    cgroup: cgroupLimits(read, file('cgroup', 'cgroup', parseCgroup), origins),
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
  1: { limit: 'memory.limit_in_bytes', high: null, current: 'memory.usage_in_bytes' },
  2: { limit: 'memory.max', high: 'memory.high', current: 'memory.current' },
} as const;

/** The tightest limit from this cgroup up to the root that is visible here; a container sees its own as the root. */
function cgroupLimits(read: ReturnType<typeof reader>, own: ReturnType<typeof parseCgroup>, origins: Origins): CgroupLimits | null {
  if (own === null) return null;
  const { limit, high, current } = LIMIT_FILES[own.version];
  const parts = own.path.split('/').filter((part) => part !== '' && part !== '..');
  const folders = parts.map((_, depth) => [ROOTS[own.version], ...parts.slice(0, parts.length - depth)].join('/'));
  folders.push(ROOTS[own.version]);
  const files: Record<string, string> = {};
  for (const [level, folder] of folders.entries()) {
    files[`limit${level}`] = `${folder}/${limit}`;
    files[`current${level}`] = `${folder}/${current}`;
    if (high !== null) files[`high${level}`] = `${folder}/${high}`;
  }
  const file = read(files);
  /** Inside a container of cgroup v1 the path is the host's and only the root of the mount exists. */
  const usage = () => {
    for (const level of folders.keys()) {
      const bytes = file(`current${level}`, 'cgroup.current', parseNumber);
      if (bytes !== null) return bytes;
    }
    return null;
  };
  const smallest = (name: string) => {
    const values = folders.map((_, level) => (`${name}${level}` in files ? file(`${name}${level}`, `cgroup.${name}`, parseLimit) : null));
    const known = values.filter((value) => value !== null);
    origins.note(`cgroup.${name}`, known.length === 0 ? 'no limit set' : `the smallest from ${folders[0]} up`);
    return known.length === 0 ? null : Math.min(...known);
  };
  return { version: own.version, path: own.path, limit: smallest('limit'), high: smallest('high'), current: usage() };
}
