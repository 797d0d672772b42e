/** The counters before and after an action, with their sources. */

import { Provenance } from '../../base/facts.ts';
import type { DriverFacts, HostMemory, KernelMemory, Receipt, ReceiptCounters, Snapshot } from '../../types/index.ts';
import { readDriverFacts } from '../host/driver.ts';
import { kernelFiles, readTable } from '../host/files.ts';
import { cpuLists } from '../host/kernel.ts';
import { unifiedDevice } from '../memory/headroom.ts';
import type { System } from './system.ts';

export interface CounterReading {
  counters: ReceiptCounters;
  from: Receipt['from'];
}

const MEMINFO_SOURCES = {
  memFree: 'MemFree of /proc/meminfo',
  memAvailable: 'MemAvailable of /proc/meminfo',
  cached: 'Cached of /proc/meminfo, shared memory included',
  sReclaimable: 'SReclaimable of /proc/meminfo',
  dirty: 'Dirty of /proc/meminfo',
} as const;

export function receipt(before: CounterReading, after: CounterReading): Receipt {
  const names = Object.keys(before.counters) as (keyof ReceiptCounters)[];
  const change = Object.fromEntries(
    names.map((name) => [name, difference(before.counters[name], after.counters[name])]),
  ) as unknown as ReceiptCounters;
  return { before: before.counters, after: after.counters, change, from: after.from };
}

export function difference(before: number | null, after: number | null): number | null {
  return before === null || after === null ? null : after - before;
}

/** Reads the counters from a snapshot, which knows the devices. */
export function snapshotCounters(snapshot: Snapshot): CounterReading {
  const { host, driver, from, kernel } = snapshot;
  const isUnified = unifiedDevice(snapshot) !== undefined;
  return reading(host, kernel, driver, from, {
    bytes: isUnified ? host.free : null,
    from: isUnified
      ? 'MemFree, which cudaMemGetInfo reports as free on a unified device; CUDA was not asked, because it needs a context'
      : 'no device here shares the memory of the host',
  });
}

/** Reads three kernel files within 1 ms. Does not call CUDA, and so does not know whether a device is unified. */
export async function currentCounters({ binding, host }: Pick<System, 'binding' | 'host'>): Promise<CounterReading> {
  const provenance = new Provenance();
  const files = kernelFiles(binding);
  const [memory, lists, driver] = await Promise.all([
    host(),
    readTable(files, { freeInCpuLists: cpuLists(binding) }, provenance),
    readDriverFacts(files, provenance),
  ]);
  return reading(memory, lists, driver, provenance.sources, {
    bytes: null,
    from: 'CUDA was not asked; on a unified device cudaMemGetInfo reports MemFree as free',
  });
}

function reading(
  host: HostMemory,
  { freeInCpuLists }: Pick<KernelMemory, 'freeInCpuLists'>,
  { poolBytes }: Pick<DriverFacts, 'poolBytes'>,
  sources: Readonly<Record<string, string>>,
  cudaFree: { bytes: number | null; from: string },
): CounterReading {
  const { free, available, cached, sReclaimable, dirty } = host;
  return {
    counters: {
      memFree: free,
      freeInCpuLists,
      memAvailable: available,
      cached,
      sReclaimable,
      dirty,
      driverPools: poolBytes,
      cudaFree: cudaFree.bytes,
    },
    from: {
      ...MEMINFO_SOURCES,
      freeInCpuLists: sources['kernel.freeInCpuLists'] ?? 'not read',
      driverPools: sources['driver.poolBytes'] ?? 'not read',
      cudaFree: cudaFree.from,
    },
  };
}
