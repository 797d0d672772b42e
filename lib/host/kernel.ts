/** Everything that the kernel reports besides meminfo: pressure, free blocks, settings, counters, driver and cgroup. */

import type { Fact } from '../base/errors.ts';
import { isFailure, Provenance } from '../base/facts.ts';
import type { NativeBinding } from '../native/contract.ts';
import type { CgroupLimits, DriverFacts, FreeBlocks, KernelMemory, Pressure } from '../types/index.ts';
import { cgroupLimits, knownUsageFile, readCgroup, USAGE_BYTES } from './cgroup.ts';
import { readDriverFacts } from './driver.ts';
import { type KernelFiles, parseFact, readSeldom, readTable } from './files.ts';
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

/** Counters of /proc/vmstat since boot, in the file's order, in which they are found fastest; `*` sums over zones. */
const COUNTERS = {
  allocstall: 'allocstall*',
  pgmajfault: 'pgmajfault',
  pgstealKswapd: 'pgsteal_kswapd',
  pgstealDirect: 'pgsteal_direct',
  pgscanKswapd: 'pgscan_kswapd',
  pgscanDirect: 'pgscan_direct',
  oomKill: 'oom_kill',
  compactStall: 'compact_stall',
  compactFail: 'compact_fail',
  compactSuccess: 'compact_success',
} as const;
type Counter = keyof typeof COUNTERS;
const COUNTER_NAMES = Object.keys(COUNTERS) as Counter[];
const COUNTER_LINES = Object.values(COUNTERS);

/** Limit for a text that is read each time; the kernel's are much shorter. */
const MAX_BYTES = 1024 * 1024;

/**
 * Part of /proc/vmstat that is read first. The kernel counts all its counters again for each page of the text (12 µs of
 * 29 on 2 processors, more on more), and on kernels up to 7.0 ours are on the first, of 4096 bytes less an incomplete
 * line.
 */
const VMSTAT_HEAD = 3968;

/** Kernels whose counters are not all in the first part of /proc/vmstat: it is read as a whole at once. */
const longVmstat = new WeakSet<NativeBinding>();

/** A reading that has begun, and the files that it needs each time: their texts finish it. */
export interface KernelReading {
  paths: string[];
  /** How much of each is needed. */
  bytes: number[];
  finish(texts: readonly Fact<string>[], provenance: Provenance): Promise<KernelFacts>;
}

/**
 * Begins to read what seldom changes, where it is not known. All files are read at the same time: one that does not
 * answer holds up what depends on it, and nothing else.
 */
export function beginKernel(files: KernelFiles): KernelReading {
  const { binding } = files;
  // With sources of their own: the order of the record must not depend on which file answers first.
  const [ofDriver, ofCgroup] = [new Provenance(), new Provenance()];
  const cgroup = readCgroup(files);
  const usageFile = cgroup instanceof Promise ? null : knownUsageFile(files, cgroup.values);
  const begun = Promise.all([
    readSeldom(files, CONSTANTS, 'forever', (own) => readTable(files, CONSTANTS, own)),
    readSeldom(files, SETTINGS, 'a second', (own) => readTable(files, SETTINGS, own)),
    readDriverFacts(files, ofDriver),
    cgroup,
    usageFile === null ? readLimits() : undefined,
  ]);
  async function readLimits(usageText?: Fact<string>): Promise<CgroupLimits | null> {
    return cgroupLimits(files, (await cgroup).values, ofCgroup, usageText);
  }
  const bytes = [MAX_BYTES, MAX_BYTES, longVmstat.has(binding) ? MAX_BYTES : VMSTAT_HEAD];
  return {
    paths: usageFile === null ? EACH_TIME : [...EACH_TIME, usageFile],
    bytes: usageFile === null ? bytes : [...bytes, USAGE_BYTES],
    async finish([pressure, buddyinfo, vmstat, usageText], provenance) {
      const [constant, settings, driver, { sources: ofPath }, begunLimits] = await begun;
      const limits = usageFile === null ? (begunLimits ?? null) : await readLimits(usageText);
      Object.assign(provenance.sources, constant.sources, settings.sources);
      const contiguity = parseFact(
        { file: BUDDYINFO, path: 'contiguity', parse: (text) => parseBuddyinfo(text, binding.pageSize()) },
        buddyinfo,
        provenance,
      );
      const counters = await readCounters(files, vmstat, provenance);
      const counter = (name: Counter) => counters[COUNTER_NAMES.indexOf(name)] ?? null;
      const facts: KernelFacts = {
        bootId: constant.values.bootId,
        pressure: parseFact(PRESSURE, pressure, provenance),
        contiguity: freeBlocks(contiguity, provenance),
        kernel: {
          release: constant.values.release,
          ...settings.values,
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
        driver,
        cgroup: limits,
      };
      Object.assign(provenance.sources, ofDriver.sources, ofPath, ofCgroup.sources);
      return facts;
    },
  };
}

/** The counters in the order of COUNTER_NAMES. @param head the first part of the text, or all of it. */
async function readCounters(
  files: KernelFiles,
  head: Fact<string> | undefined,
  provenance: Provenance,
): Promise<(number | null)[]> {
  const counters = head === undefined || isFailure(head) ? null : countersInHead(head);
  if (counters !== null) {
    provenance.record('kernel.vmstat', VMSTAT);
    return counters;
  }
  let text = head;
  if (typeof head === 'string' && !longVmstat.has(files.binding)) {
    longVmstat.add(files.binding);
    [text] = await files.reread([VMSTAT], [MAX_BYTES]);
  }
  const parse = (whole: string) => parseVmstat(whole, COUNTER_LINES);
  const values = parseFact({ file: VMSTAT, path: 'kernel.vmstat', parse }, text, provenance);
  if (values === null) return COUNTER_NAMES.map(() => null);
  for (const [index, value] of values.entries()) {
    if (value === null)
      provenance.record(`kernel.${COUNTER_NAMES[index]}`, `${VMSTAT}: no readable counter ${COUNTER_LINES[index]}`);
  }
  return values;
}

/** null: a counter is not in the first lines, or the lines of all zones may go on after them. */
function countersInHead(head: string): (number | null)[] | null {
  const end = head.lastIndexOf('\n');
  const lastLine = head.slice(head.lastIndexOf('\n', end - 1) + 1, end);
  const values = parseVmstat(head.slice(0, end), COUNTER_LINES);
  return values.includes(null) || lastLine.startsWith('allocstall') ? null : values;
}

function setting<T>(name: string, file: string, parse: (text: string) => T | null) {
  return { file: `/proc/sys/vm/${file}`, path: `kernel.${name}`, parse };
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
