/** Everything that the kernel reports besides meminfo: pressure, free blocks, settings, counters, driver and cgroup. */

import type { Fact } from '../../base/errors.ts';
import { isFailure, Provenance, reason } from '../../base/facts.ts';
import type { CgroupLimits, DriverFacts, FreeBlocks, KernelMemory, Pressure } from '../../types/index.ts';
import type { NativeBinding } from '../native/contract.ts';
import { readCgroup, withUsage } from './cgroup.ts';
import { readDriverFacts } from './driver.ts';
import { type FileFact, type KernelFiles, parseFact, readSeldom, readTable, unparsed } from './files.ts';
import { parseBuddyinfo, parseChoice, parseNumber, parsePressure, parseVmstat } from './procfs.ts';

export interface KernelFacts {
  bootId: string | null;
  pressure: Pressure | null;
  contiguity: FreeBlocks[] | null;
  kernel: KernelMemory;
  driver: DriverFacts;
  cgroup: CgroupLimits | null;
}

/** Constant until the next boot: read once. */
const CONSTANTS = {
  bootId: { file: '/proc/sys/kernel/random/boot_id', path: 'bootId', parse: parseLine },
  release: { file: '/proc/sys/kernel/osrelease', path: 'kernel.release', parse: parseLine },
};

/** Settings of an administrator: read once a second. */
const SETTINGS = {
  minFree: setting('minFree', 'min_free_kbytes', (text) => kiB(parseNumber(text))),
  watermarkScaleFactor: setting('watermarkScaleFactor', 'watermark_scale_factor', parseNumber),
  watermarkBoostFactor: setting('watermarkBoostFactor', 'watermark_boost_factor', parseNumber),
  swappiness: setting('swappiness', 'swappiness', parseNumber),
  compactionProactiveness: setting('compactionProactiveness', 'compaction_proactiveness', parseNumber),
  transparentHugePages: {
    file: '/sys/kernel/mm/transparent_hugepage/enabled',
    path: 'kernel.transparentHugePages',
    parse: parseChoice,
  },
};

/** Read each time. */
const PRESSURE = { file: '/proc/pressure/memory', path: 'pressure', parse: parsePressure };
const BUDDYINFO = '/proc/buddyinfo';
const VMSTAT = '/proc/vmstat';
const EACH_TIME = [PRESSURE.file, BUDDYINFO, VMSTAT];
/**
 * Bytes of free pages in the lists of the processors. Each time too, although it takes longest (45 µs on 2 processors): MemFree
 * without these pages is not all.
 */
const CPU_LISTS: FileFact<number, number> = {
  file: '/proc/zoneinfo',
  path: 'kernel.freeInCpuLists',
  parse: (bytes) => (Number.isNaN(bytes) ? null : bytes),
};

/** Counters of /proc/vmstat since boot; `*` sums over zones. */
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
const COUNTER_NAMES = Object.keys(COUNTERS) as (keyof typeof COUNTERS)[];
const COUNTER_LINES = Object.values(COUNTERS);
type Counters = Record<keyof typeof COUNTERS, number | null>;

/** Limit for a text that is read each time; the kernel's are much shorter. */
const MAX_BYTES = 1024 * 1024;

/** A reading that has begun, and the files that it needs each time: their texts finish it. */
export interface KernelReading {
  paths: string[];
  /** Bytes of each that are needed. */
  bytes: number[];
  /** @param cpuLists what `readCpuLists` will answer: awaited after the texts are parsed, because it takes longest. */
  finish(
    texts: readonly Fact<string>[],
    cpuLists: Promise<[Fact<number>]>,
    provenance: Provenance,
  ): Promise<KernelFacts>;
}

/** Reads what seldom changes, where it is not known. One of these files names one that is read each time. */
export async function beginKernel(files: KernelFiles): Promise<KernelReading> {
  // Each has its own sources: the order of the record must not depend on which file answers first.
  const [ofDriver, ofCgroup] = [new Provenance(), new Provenance()];
  const [constant, settings, compressed, driver, cgroup] = await Promise.all([
    readSeldom(files, CONSTANTS, 'forever', (own) => readTable(files, CONSTANTS, own)),
    readSeldom(files, SETTINGS, 'a second', (own) => readTable(files, SETTINGS, own)),
    readSeldom(files, readZram, 'a second', (own) => readZram(files, own)),
    readDriverFacts(files, ofDriver),
    readCgroup(files, ofCgroup),
  ]);
  const paths = [...EACH_TIME, ...(cgroup?.usageFile == null ? [] : [cgroup.usageFile])];
  return {
    paths,
    bytes: paths.map(() => MAX_BYTES),
    async finish([pressure, buddyinfo, vmstat, usage], cpuLists, provenance) {
      Object.assign(provenance.sources, constant.sources, settings.sources, compressed.sources);
      const parse = (text: string) => parseBuddyinfo(text, files.binding.pageSize());
      const contiguity = parseFact({ file: BUDDYINFO, path: 'contiguity', parse }, buddyinfo, provenance);
      const facts: KernelFacts = {
        bootId: constant.values.bootId,
        pressure: parseFact(PRESSURE, pressure, provenance),
        contiguity: freeBlocks(contiguity, provenance),
        kernel: {
          release: constant.values.release,
          ...settings.values,
          ...counters(vmstat, provenance),
          freeInCpuLists: parseFact(CPU_LISTS, (await cpuLists)[0], provenance),
          zram: compressed.values.zram,
        },
        driver,
        cgroup: withUsage(cgroup, usage, ofCgroup),
      };
      Object.assign(provenance.sources, ofDriver.sources, ofCgroup.sources);
      return facts;
    },
  };
}

function counters(text: Fact<string> | undefined, provenance: Provenance): Counters {
  const parse = (whole: string) => parseVmstat(whole, COUNTER_LINES);
  const values = parseFact({ file: VMSTAT, path: 'kernel.vmstat', parse }, text, provenance);
  const found = {} as Counters;
  for (const [index, name] of COUNTER_NAMES.entries()) {
    found[name] = values?.[index] ?? null;
    if (values !== null && found[name] === null)
      provenance.record(`kernel.${name}`, `${VMSTAT}: no readable counter ${COUNTERS[name]}`);
  }
  return found;
}

function setting<T>(name: string, file: string, parse: (text: string) => T | null) {
  return { file: `/proc/sys/vm/${file}`, path: `kernel.${name}`, parse };
}

/** The same from the text of the file. */
export function cpuLists(binding: NativeBinding): FileFact<number> {
  return { ...CPU_LISTS, parse: (text) => CPU_LISTS.parse(binding.parseCpuLists(text)) };
}

function parseLine(text: string): string | null {
  return text.trim() || null;
}

function kiB(value: number | null): number | null {
  return value === null || value > Number.MAX_SAFE_INTEGER / 1024 ? null : value * 1024;
}

function freeBlocks(counted: ReturnType<typeof parseBuddyinfo>, provenance: Provenance): FreeBlocks[] | null {
  if (counted === null) return null;
  if (counted.zone !== 'Normal')
    provenance.record('contiguity', `${BUDDYINFO}, all zones (this machine has no zone Normal)`);
  return counted.blocks;
}

const BLOCK_DEVICES = '/sys/block';
/** Field of mm_stat: mem_used_total, with what fragmentation costs (Documentation/admin-guide/blockdev/zram.rst). */
const ZRAM_USED = 2;

/** Memory of all zram devices (compressed swap, in no line of /proc/meminfo), in bytes; null: not known. */
async function readZram(files: KernelFiles, provenance: Provenance): Promise<{ zram: number | null }> {
  const names = await files.list(BLOCK_DEVICES);
  const from = (source: string, zram: number | null) => {
    provenance.record('kernel.zram', source);
    return { zram };
  };
  if (isFailure(names)) return from(reason(names), null);
  const paths = names.filter((name) => /^zram\d+$/.test(name)).map((name) => `${BLOCK_DEVICES}/${name}/mm_stat`);
  if (paths.length === 0) return from(`${BLOCK_DEVICES} has no zram device`, 0);
  const texts = await files.read(paths);
  let sum = 0;
  for (const [index, path] of paths.entries()) {
    const text = texts[index];
    if (text === undefined || isFailure(text))
      return from(text === undefined ? `${path}: not read` : reason(text), null);
    const used = /^(?:\s*\d+){3}/.test(text) ? Number(text.trim().split(/\s+/)[ZRAM_USED]) : Number.NaN;
    if (!Number.isSafeInteger(used)) return from(unparsed(path), null);
    sum += used;
  }
  return from(paths.join(', '), sum);
}
