/** Everything that the kernel reports besides meminfo: pressure, free blocks, settings, counters, driver and cgroup. */

import { isFailure, type Provenance } from '../base/facts.ts';
import type { NativeBinding } from '../native/contract.ts';
import type { CgroupLimits, DriverFacts, FreeBlocks, KernelMemory, Pressure } from '../types/index.ts';
import { cgroupLimits } from './cgroup.ts';
import { readDriverFacts } from './driver.ts';
import { parseFact, readSeldom, readTable } from './files.ts';
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
const CGROUP = { file: '/proc/self/cgroup', path: 'cgroup', parse: parseCgroup };
const VMSTAT = '/proc/vmstat';

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

export function readKernelFacts(binding: NativeBinding, provenance: Provenance): KernelFacts {
  const constant = readSeldom(binding, CONSTANTS, provenance, 'forever', (own) => readTable(binding, CONSTANTS, own));
  const settings = readSeldom(binding, SETTINGS, provenance, 'a second', (own) => readTable(binding, SETTINGS, own));
  const [pressure, buddyinfo, cgroup] = binding.rereadFiles([PRESSURE.file, BUDDYINFO, CGROUP.file], MAX_BYTES);
  const contiguity = parseFact(
    { file: BUDDYINFO, path: 'contiguity', parse: (text) => parseBuddyinfo(text, binding.pageSize()) },
    buddyinfo,
    provenance,
  );
  const counters = readCounters(binding, provenance);
  const counter = (name: Counter) => counters[COUNTER_NAMES.indexOf(name)] ?? null;
  return {
    bootId: constant.bootId,
    pressure: parseFact(PRESSURE, pressure, provenance),
    contiguity: freeBlocks(contiguity, provenance),
    kernel: {
      release: constant.release,
      ...settings,
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
    driver: readDriverFacts(binding, provenance),
    cgroup: cgroupLimits(binding, parseFact(CGROUP, cgroup, provenance), provenance),
  };
}

/** The counters in the order of COUNTER_NAMES. */
function readCounters(binding: NativeBinding, provenance: Provenance): (number | null)[] {
  const [head] = binding.rereadFiles([VMSTAT], VMSTAT_HEAD);
  const counters = head === undefined || isFailure(head) ? null : countersInHead(head);
  if (counters !== null) {
    provenance.record('kernel.vmstat', VMSTAT);
    return counters;
  }
  const [text] = binding.rereadFiles([VMSTAT], MAX_BYTES);
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
