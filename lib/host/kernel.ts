/** Everything that the kernel reports besides meminfo: pressure, free blocks, settings, counters, driver and cgroup. */

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

/** Constant until the next boot: read once. */
const CONSTANT_FILES = {
  bootId: '/proc/sys/kernel/random/boot_id',
  release: '/proc/sys/kernel/osrelease',
} as const;

/** Settings of an administrator: read once a second. */
const SETTING_FILES = {
  minFree: '/proc/sys/vm/min_free_kbytes',
  watermarkScaleFactor: '/proc/sys/vm/watermark_scale_factor',
  watermarkBoostFactor: '/proc/sys/vm/watermark_boost_factor',
  swappiness: '/proc/sys/vm/swappiness',
  compactionProactiveness: '/proc/sys/vm/compaction_proactiveness',
  transparentHugePages: '/sys/kernel/mm/transparent_hugepage/enabled',
} as const;

/** Read each time. */
const FILES = {
  pressure: '/proc/pressure/memory',
  buddyinfo: '/proc/buddyinfo',
  vmstat: '/proc/vmstat',
  cgroup: '/proc/self/cgroup',
} as const;

/** Counters of /proc/vmstat; `*` sums over zones. */
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

const COUNTER_NAMES = Object.keys(COUNTERS);

export function readKernelFacts(binding: NativeBinding, provenance: Provenance): KernelFacts {
  const read = reader(binding, provenance);
  const file = read(FILES);
  const constant = read(CONSTANT_FILES, (paths) => readCached(binding, paths, untilUnload));
  const setting = read(SETTING_FILES, (paths) => readCached(binding, paths, forASecond));
  const counters = file('vmstat', 'kernel.vmstat', (text) => parseVmstat(text, Object.values(COUNTERS)));
  const counter = (name: keyof typeof COUNTERS): number | null => {
    const value = counters?.[COUNTER_NAMES.indexOf(name)] ?? null;
    if (value === null && counters !== null)
      provenance.record(`kernel.${name}`, `${FILES.vmstat}: no readable counter ${COUNTERS[name]}`);
    return value;
  };
  const systemMemoryPools = readSystemMemoryPools(binding, provenance);
  return {
    bootId: constant('bootId', 'bootId', (text) => text.trim() || null),
    pressure: file('pressure', 'pressure', parsePressure),
    contiguity: freeBlocks(
      file('buddyinfo', 'contiguity', (text) => parseBuddyinfo(text, binding.pageSize())),
      provenance,
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
      version: readDriverVersion(binding, provenance),
      systemMemoryPools,
      poolBytes: readPoolBytes(binding, systemMemoryPools, provenance),
    },
    cgroup: cgroupLimits(binding, file('cgroup', 'cgroup', parseCgroup), provenance),
  };
}

function kiB(value: number | null): number | null {
  return value === null || value > Number.MAX_SAFE_INTEGER / 1024 ? null : value * 1024;
}

function freeBlocks(counted: ReturnType<typeof parseBuddyinfo>, provenance: Provenance): FreeBlocks[] | null {
  if (counted === null) return null;
  if (counted.zone !== 'Normal')
    provenance.record('contiguity', `${FILES.buddyinfo}, all zones (this machine has no zone Normal)`);
  return counted.blocks;
}
