import type { Provenance } from '../base/facts.ts';
import type { NativeBinding } from '../native/contract.ts';
import type { CgroupLimits, DriverFacts, FreeBlocks, KernelMemory, Pressure } from '../types/index.ts';
import { cgroupLimits } from './cgroup.ts';
import { readDriverVersion, readPoolBytes, readSystemMemoryPools } from './driver.ts';
import { forASecond, readCached, reader, untilUnload } from './files.ts';
import { parseBuddyinfo, parseCgroup, parseChoice, parseNumber, parsePressure, parseVmstat } from './procfs.ts';

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
} as const;

const SETTING_FILES = {
  minFree: '/proc/sys/vm/min_free_kbytes',
  watermarkScaleFactor: '/proc/sys/vm/watermark_scale_factor',
  watermarkBoostFactor: '/proc/sys/vm/watermark_boost_factor',
  swappiness: '/proc/sys/vm/swappiness',
  compactionProactiveness: '/proc/sys/vm/compaction_proactiveness',
  transparentHugePages: '/sys/kernel/mm/transparent_hugepage/enabled',
} as const;

const FILES = {
  pressure: '/proc/pressure/memory',
  buddyinfo: '/proc/buddyinfo',
  vmstat: '/proc/vmstat',
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

/** Everything but meminfo: pressure, free blocks, settings, counters, driver parameters and cgroup limits. */
export function readKernelFacts(binding: NativeBinding, origins: Provenance): KernelFacts {
  const read = reader(binding, origins);
  const file = read(FILES);
  const constant = read(CONSTANT_FILES, (paths) => readCached(binding, paths, untilUnload));
  const setting = read(SETTING_FILES, (paths) => readCached(binding, paths, forASecond));
  const counters = file('vmstat', 'kernel.vmstat', (text) => parseVmstat(text, Object.values(COUNTERS)));
  const counter = (name: keyof typeof COUNTERS) => counters?.[Object.keys(COUNTERS).indexOf(name)] ?? null;
  const systemMemoryPools = readSystemMemoryPools(binding, origins);
  return {
    bootId: constant('bootId', 'bootId', (text) => text.trim() || null),
    pressure: file('pressure', 'pressure', parsePressure),
    contiguity: freeBlocks(
      file('buddyinfo', 'contiguity', (text) => parseBuddyinfo(text, binding.pageSize())),
      origins,
    ),
    kernel: {
      release: constant('release', 'kernel.release', (text) => text.trim() || null),
      minFree: setting('minFree', 'kernel.minFree', (text) => kiB(parseNumber(text))),
      watermarkScaleFactor: setting('watermarkScaleFactor', 'kernel.watermarkScaleFactor', parseNumber),
      watermarkBoostFactor: setting('watermarkBoostFactor', 'kernel.watermarkBoostFactor', parseNumber),
      swappiness: setting('swappiness', 'kernel.swappiness', parseNumber),
      compactionProactiveness: setting('compactionProactiveness', 'kernel.compactionProactiveness', parseNumber),
      transparentHugePages: setting('transparentHugePages', 'kernel.transparentHugePages', parseChoice),
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
      version: readDriverVersion(binding, origins),
      systemMemoryPools,
      poolBytes: readPoolBytes(binding, systemMemoryPools, origins),
    },
    cgroup: cgroupLimits(binding, file('cgroup', 'cgroup', parseCgroup), origins),
  };
}

function kiB(value: number | null): number | null {
  return value === null ? null : value * 1024;
}

function freeBlocks(counted: ReturnType<typeof parseBuddyinfo>, origins: Provenance): FreeBlocks[] | null {
  if (counted === null) return null;
  if (counted.zone !== 'Normal')
    origins.record('contiguity', `${FILES.buddyinfo}, all zones (this machine has no zone Normal)`);
  return counted.blocks;
}
