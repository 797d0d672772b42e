/** What the NVIDIA kernel driver says in /proc and debugfs: its version, and the page pools that it keeps. */

import { isFailure, type Provenance, reason } from '../base/facts.ts';
import type { NativeBinding } from '../native/contract.ts';
import { readCached, reader, untilUnload } from './files.ts';
import { parseDriverParameter, parseDriverVersion, parseShrinkerCount } from './procfs.ts';

const FILES = { version: '/proc/driver/nvidia/version', params: '/proc/driver/nvidia/params' } as const;

const SHRINKERS = '/sys/kernel/debug/shrinker';

/** A loaded driver keeps its version and parameters until it is unloaded. */
function driverFile(binding: NativeBinding, origins: Provenance) {
  return reader(binding, origins)(FILES, (paths) => readCached(binding, paths, untilUnload));
}

export function readDriverVersion(binding: NativeBinding, origins: Provenance): string | null {
  return driverFile(binding, origins)('version', 'driver.version', parseDriverVersion);
}

/** Parameter EnableSystemMemoryPools: a bit mask, 0 for no pools; null: this driver has no such parameter. */
export function readSystemMemoryPools(binding: NativeBinding, origins: Provenance): number | null {
  return driverFile(binding, origins)('params', 'driver.systemMemoryPools', (text) =>
    parseDriverParameter(text, 'EnableSystemMemoryPools'),
  );
}

/**
 * Bytes in the driver's page pools. A pool's shrinker counts pool pages, not base pages: order 9 is 2 MiB each. The directory
 * is listed only where the driver has the parameter at all, because it has hundreds of entries.
 *
 * @param parameter as `readSystemMemoryPools` read it.
 */
export function readPoolBytes(binding: NativeBinding, parameter: number | null, origins: Provenance): number | null {
  if (parameter === null || parameter === 0) {
    origins.record(
      'driver.poolBytes',
      parameter === 0 ? 'EnableSystemMemoryPools is 0: no pools' : 'this driver has no page pools parameter',
    );
    return parameter === 0 ? 0 : null;
  }
  const names = binding.listDirectory(SHRINKERS);
  if (isFailure(names)) {
    origins.record('driver.poolBytes', reason(names));
    return null;
  }
  const pools = names
    .map((name) => /^nv-sysmem-alloc-node-\d+-order-(\d+)(?:-\d+)?$/.exec(name))
    .filter((match) => match !== null);
  const texts = binding.readFiles(pools.map((match) => `${SHRINKERS}/${match[0]}/count`));
  let bytes = 0;
  for (const [at, text] of texts.entries()) {
    const count = isFailure(text) ? null : parseShrinkerCount(text);
    if (count === null) {
      origins.record(
        'driver.poolBytes',
        isFailure(text) ? reason(text) : `${SHRINKERS}/${pools[at]?.[0]}/count: not a count`,
      );
      return null;
    }
    bytes += count * binding.pageSize() * 2 ** Number(pools[at]?.[1]);
  }
  origins.record(
    'driver.poolBytes',
    pools.length === 0 ? `${SHRINKERS}: no nv-sysmem-alloc shrinker` : `${SHRINKERS}/nv-sysmem-alloc-*/count`,
  );
  return pools.length === 0 ? null : bytes;
}
