/** Model files that running programs have mapped: what a drop costs them. */

import { formatBoth } from '../base/format.ts';
import { findStores, invokingHome } from '../models/stores.ts';
import { type Inode, inodesOf, type Mapper, mapperWords, mappingsOf } from './mappings.ts';
import type { System } from './system.ts';
import { walk } from './walk.ts';

/** A model's weights; configurations and tokenizers below this size are read again in no time. */
const WEIGHTS = 64 * 2 ** 20;
/** So many files, the largest: a sharded model has some 200. */
const LARGEST = 2000;
/** A warning must not take longer than what it warns of. */
const SEARCH_MS = 2000;

interface Weights extends Inode {
  cached: number;
}

/** "2 model files (35.40 GiB, 38.01 GB cached) are mapped by vllm (4242): …", one for each group of processes. */
export async function serverWarnings(machine: System): Promise<string[]> {
  if (machine.simulated !== null) return [];
  const paths = (await findStores(machine.env, invokingHome(machine.env))).map(({ path }) => path);
  if (paths.length === 0) return [];
  const weights: Weights[] = [];
  const until = performance.now() + SEARCH_MS;
  const { complete } = await walk(
    machine.binding,
    paths,
    { mode: 'status', listEmpty: false, top: LARGEST },
    { enough: () => performance.now() > until },
    ({ entries }) => {
      for (const { what, dev, ino, cached, bytes = 0 } of entries) {
        if (what === 'file' && bytes >= WEIGHTS && dev !== undefined && ino !== undefined)
          weights.push({ dev, ino, cached: cached ?? 0 });
      }
    },
  );
  const { of } = await mappingsOf(machine.binding, await inodesOf(weights));
  const warnings = byMappers(weights, of);
  if (!complete)
    warnings.push(`the model stores were searched for mapped files for ${SEARCH_MS} ms only, not to the end`);
  return warnings;
}

function byMappers(weights: readonly Weights[], of: (file: Inode) => Mapper[]): string[] {
  const groups = new Map<string, { files: number; cached: number }>();
  for (const file of weights) {
    const mappers = of(file);
    if (mappers.length === 0) continue;
    const who = [...new Set(mappers.map(mapperWords))].join(', ');
    const group = groups.get(who) ?? { files: 0, cached: 0 };
    groups.set(who, group);
    group.files++;
    group.cached += file.cached;
  }
  return [...groups].map(
    ([who, { files, cached }]) =>
      `${files} model ${files === 1 ? 'file' : 'files'} (${formatBoth(cached)} cached) ${files === 1 ? 'is' : 'are'} mapped by ${who}: ` +
      'what it has not in use at this moment is dropped, and read from disk again when it is touched (major faults)',
  );
}
