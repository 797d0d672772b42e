/** Model files that running programs have mapped: the programs must read them again after a drop. */

import { UmaError } from '../../base/errors.ts';
import { formatBoth, MiB } from '../../base/format.ts';
import { type Inode, inodePairs } from './inodes.ts';
import { type Mapper, mapperList, mappingsOf } from './mappings.ts';
import type { System } from './system.ts';
import { existingStores } from './targets.ts';
import { walk } from './walk.ts';

/** Files of this size or more are weights. Smaller ones, configurations and tokenizers, are read again in no time. */
const WEIGHTS_BYTES = 64 * MiB;
/** Number of files to check, largest first: a sharded model has about 200. */
const MAX_FILES = 2000;
/** The search must not delay the drop. */
const SEARCH_LIMIT_MS = 2000;

interface WeightsFile extends Inode {
  /** null: not visible to this user. */
  cached: number | null;
}

/** "2 model files (35.40 GiB (38.01 GB) cached) are mapped by vllm (4242): …", one for each group of processes. */
export async function mappedModelWarnings(system: System): Promise<string[]> {
  if (system.simulated !== null) return [];
  try {
    return await searchStores(system);
  } catch (error) {
    // A store on a network share that does not answer must not prevent the drop.
    if (!(error instanceof UmaError && error.code === 'ERR_UMA_TIMEOUT')) throw error;
    return [`mapped model files were not searched: ${error.message}`];
  }
}

async function searchStores(system: System): Promise<string[]> {
  const paths = (await existingStores(system)).map(({ path }) => path);
  if (paths.length === 0) return [];
  const weights: WeightsFile[] = [];
  const until = performance.now() + SEARCH_LIMIT_MS;
  const { complete } = await walk(
    system.binding,
    paths,
    { mode: 'status', listEmpty: false, top: MAX_FILES },
    { enough: async () => performance.now() > until },
    ({ entries }) => {
      for (const { what, dev, ino, cached, bytes = 0 } of entries) {
        if (what === 'file' && bytes >= WEIGHTS_BYTES && dev !== undefined && ino !== undefined)
          weights.push({ dev, ino, cached: cached ?? null });
      }
    },
  );
  const { of } = await mappingsOf(system.binding, await inodePairs(weights));
  const warnings = warningsByMappers(weights, of);
  if (!complete)
    warnings.push(`the search for mapped model files was stopped after ${SEARCH_LIMIT_MS} ms and is incomplete`);
  return warnings;
}

function warningsByMappers(weights: readonly WeightsFile[], mappersOf: (file: Inode) => Mapper[]): string[] {
  const groups = new Map<string, { files: number; cached: number | null }>();
  for (const file of weights) {
    const mappers = mappersOf(file);
    if (mappers.length === 0) continue;
    const processes = mapperList(mappers);
    const group = groups.get(processes) ?? { files: 0, cached: 0 };
    groups.set(processes, group);
    group.files++;
    group.cached = group.cached === null || file.cached === null ? null : group.cached + file.cached;
  }
  return [...groups].map(
    ([processes, { files, cached }]) =>
      `${files} model ${files === 1 ? 'file' : 'files'} (${cached === null ? 'how much of it is cached is not visible' : `${formatBoth(cached)} cached`}) ${files === 1 ? 'is' : 'are'} mapped by ${processes}: ` +
      'pages that are not in use at this moment are dropped, and read from disk again on the next access (major faults)',
  );
}
