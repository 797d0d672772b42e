/** Before and after of an action, each counter with where it comes from. */

import { Provenance } from '../base/facts.ts';
import { readPoolBytes, readSystemMemoryPools } from '../host/driver.ts';
import { unifiedDevice } from '../memory/headroom.ts';
import type { HostMemory, Receipt, ReceiptCounters, Snapshot } from '../types/index.ts';
import type { System } from './system.ts';

export interface Counted {
  counters: ReceiptCounters;
  from: Receipt['from'];
}

const MEMINFO = {
  memFree: 'MemFree of /proc/meminfo',
  memAvailable: 'MemAvailable of /proc/meminfo',
  cached: 'Cached of /proc/meminfo, shared memory included',
  sReclaimable: 'SReclaimable of /proc/meminfo',
  dirty: 'Dirty of /proc/meminfo',
} as const;

/** From a whole reading, which knows the devices. */
export function countedOf(snapshot: Snapshot): Counted {
  const { host, driver, from } = snapshot;
  const unified = unifiedDevice(snapshot) !== undefined;
  return counted(host, driver.poolBytes, from['driver.poolBytes'], {
    bytes: unified ? host.free : null,
    from: unified
      ? 'MemFree, which cudaMemGetInfo calls free on a unified device; not asked, because it needs a context'
      : 'no device here shares the memory of the host',
  });
}

/** From two of the kernel's files, in well under a millisecond: CUDA is not asked, so whether a device is unified is not known. */
export function countNow({ binding, host }: Pick<System, 'binding' | 'host'>): Counted {
  const origins = new Provenance();
  const pools = readPoolBytes(binding, readSystemMemoryPools(binding, origins), origins);
  return counted(host(), pools, origins.sources['driver.poolBytes'], {
    bytes: null,
    from: 'CUDA was not asked; on a unified device cudaMemGetInfo calls MemFree free',
  });
}

function counted(
  host: HostMemory,
  driverPools: number | null,
  poolsFrom: string | undefined,
  cudaFree: { bytes: number | null; from: string },
): Counted {
  const { free, available, cached, sReclaimable, dirty } = host;
  return {
    counters: {
      memFree: free,
      memAvailable: available,
      cached,
      sReclaimable,
      dirty,
      driverPools,
      cudaFree: cudaFree.bytes,
    },
    from: { ...MEMINFO, driverPools: poolsFrom ?? 'not read', cudaFree: cudaFree.from },
  };
}

export function receipt(before: Counted, after: Counted): Receipt {
  const names = Object.keys(before.counters) as (keyof ReceiptCounters)[];
  const change = Object.fromEntries(
    names.map((name) => [name, difference(before.counters[name], after.counters[name])]),
  ) as unknown as ReceiptCounters;
  return { before: before.counters, after: after.counters, change, from: after.from };
}

export function difference(before: number | null, after: number | null): number | null {
  return before === null || after === null ? null : after - before;
}
