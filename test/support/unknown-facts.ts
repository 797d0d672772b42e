/** Facts of which nothing is known: where a test begins that gives a few. */
import { HOST_MEMORY_FIELDS } from '../../lib/core/host/meminfo.ts';
import type { DriverFacts, HostMemory, KernelMemory } from '../../lib/types/index.ts';

/** A HostMemory with these fields and no others, besides the total of a Spark with the smaller display reserve. */
export function hostWith(known: Partial<HostMemory>): HostMemory {
  const blank = Object.fromEntries(HOST_MEMORY_FIELDS.map((field) => [field, null])) as unknown as HostMemory;
  return { ...blank, total: 127_600_748 * 1024, ...known };
}

export const NO_KERNEL: KernelMemory = {
  release: null,
  minFree: null,
  watermarkScaleFactor: null,
  watermarkBoostFactor: null,
  swappiness: null,
  compactionProactiveness: null,
  transparentHugePages: null,
  freeInCpuLists: null,
  zram: null,
  compactStall: null,
  compactFail: null,
  compactSuccess: null,
  pgscanDirect: null,
  pgstealDirect: null,
  pgscanKswapd: null,
  pgstealKswapd: null,
  allocstall: null,
  oomKill: null,
  pgmajfault: null,
};

export const NO_DRIVER: DriverFacts = { version: null, systemMemoryPools: null, poolBytes: null };
