/** Facts of the NVIDIA kernel driver in /proc and debugfs: its version and its page pools. */

import { isFailure, type Provenance, reason } from '../base/facts.ts';
import type { NativeBinding } from '../native/contract.ts';
import { readCached, reader, untilUnload } from './files.ts';
import { parseDriverParameter, parseDriverVersion, parseShrinkerCount } from './procfs.ts';

const FILES = { version: '/proc/driver/nvidia/version', params: '/proc/driver/nvidia/params' } as const;

const SHRINKERS = '/sys/kernel/debug/shrinker';

/** Version and parameters of a loaded driver are constant until it is unloaded. */
function driverFile(binding: NativeBinding, provenance: Provenance) {
  return reader(binding, provenance)(FILES, (paths) => readCached(binding, paths, untilUnload));
}

export function readDriverVersion(binding: NativeBinding, provenance: Provenance): string | null {
  return driverFile(binding, provenance)('version', 'driver.version', parseDriverVersion);
}

/** Parameter EnableSystemMemoryPools: a bit mask, 0 for no pools. null: this driver has no such parameter. */
export function readSystemMemoryPools(binding: NativeBinding, provenance: Provenance): number | null {
  return driverFile(binding, provenance)('params', 'driver.systemMemoryPools', (text) =>
    parseDriverParameter(text, 'EnableSystemMemoryPools'),
  );
}

/**
 * Bytes in the driver's page pools; null: unknown. The shrinker of a pool counts pages of the pool's order, not base
 * pages: of order 9 each has 2 MiB. The directory has hundreds of entries, so it is listed only if the driver has the
 * parameter.
 *
 * @param systemMemoryPools result of `readSystemMemoryPools`.
 */
export function readPoolBytes(
  binding: NativeBinding,
  systemMemoryPools: number | null,
  provenance: Provenance,
): number | null {
  if (systemMemoryPools === null || systemMemoryPools === 0) {
    provenance.record(
      'driver.poolBytes',
      systemMemoryPools === 0 ? 'EnableSystemMemoryPools is 0: no pools' : 'this driver has no page pools parameter',
    );
    return systemMemoryPools === 0 ? 0 : null;
  }
  const names = binding.listDirectory(SHRINKERS);
  if (isFailure(names)) {
    provenance.record('driver.poolBytes', reason(names));
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
      provenance.record(
        'driver.poolBytes',
        isFailure(text) ? reason(text) : `${SHRINKERS}/${pools[at]?.[0]}/count: not a count`,
      );
      return null;
    }
    bytes += count * binding.pageSize() * 2 ** Number(pools[at]?.[1]);
  }
  provenance.record(
    'driver.poolBytes',
    pools.length === 0 ? `${SHRINKERS}: no nv-sysmem-alloc shrinker` : `${SHRINKERS}/nv-sysmem-alloc-*/count`,
  );
  return pools.length === 0 ? null : bytes;
}
