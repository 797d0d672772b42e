/** Facts of the NVIDIA kernel driver in /proc and debugfs: its version and its page pools. */

import { isFailure, isUnread, type Provenance, reason } from '../../base/facts.ts';
import type { DriverFacts } from '../../types/index.ts';
import { type KernelFiles, readSeldom, readTable, unparsed } from './files.ts';
import { parseDriverParameter, parseDriverVersion, parseShrinkerCount } from './procfs.ts';

const SHRINKERS = '/sys/kernel/debug/shrinker';

/** Constant until the driver is unloaded. */
const FACTS = {
  version: { file: '/proc/driver/nvidia/version', path: 'driver.version', parse: parseDriverVersion },
  systemMemoryPools: {
    file: '/proc/driver/nvidia/params',
    path: 'driver.systemMemoryPools',
    parse: (text: string) => parseDriverParameter(text, 'EnableSystemMemoryPools'),
  },
};

export async function readDriverFacts(files: KernelFiles, provenance: Provenance): Promise<DriverFacts> {
  const { sources, values } = await readSeldom(files, FACTS, 'forever', (own) => readTable(files, FACTS, own));
  Object.assign(provenance.sources, sources);
  const { systemMemoryPools, version } = values;
  const { file, path } = FACTS.systemMemoryPools;
  // The file has no line of that name, or is not there.
  const hasNone = systemMemoryPools === null && !isUnread(sources[path]);
  if (sources[path] === unparsed(file)) provenance.record(path, `${file}: this driver has no such parameter`);
  if (!hasNone && systemMemoryPools !== 0)
    return { version, systemMemoryPools, poolBytes: await readPoolBytes(files, provenance) };
  provenance.record(
    'driver.poolBytes',
    hasNone ? 'this driver has no page pools parameter' : 'EnableSystemMemoryPools is 0: no pools',
  );
  return { version, systemMemoryPools, poolBytes: hasNone ? null : 0 };
}

/**
 * Bytes in the driver's page pools; null: unknown. The shrinker of a pool counts pages of the pool's order, not base
 * pages: of order 9 each has 2 MiB. The directory has hundreds of entries, so it is listed only if the driver has the
 * parameter, or its parameters cannot be read.
 */
async function readPoolBytes(files: KernelFiles, provenance: Provenance): Promise<number | null> {
  const names = await files.list(SHRINKERS);
  if (isFailure(names)) {
    provenance.record('driver.poolBytes', reason(names));
    return null;
  }
  const pools = names
    .map((name) => /^nv-sysmem-alloc-node-\d+-order-(\d+)(?:-\d+)?$/.exec(name))
    .filter((match) => match !== null);
  const texts = await files.read(pools.map((match) => `${SHRINKERS}/${match[0]}/count`));
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
    bytes += count * files.binding.pageSize() * 2 ** Number(pools[at]?.[1]);
  }
  provenance.record(
    'driver.poolBytes',
    pools.length === 0 ? `${SHRINKERS}: no nv-sysmem-alloc shrinker` : `${SHRINKERS}/nv-sysmem-alloc-*/count`,
  );
  return pools.length === 0 ? null : bytes;
}
