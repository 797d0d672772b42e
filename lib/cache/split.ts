/** The machine's page cache in parts that add up. */
import type { CacheSplit, CacheTarget, HostMemory } from '../types/index.ts';

/**
 * @param targets null: no files were looked at. Files whose pages are not shown count as other files.
 * @returns `machine` null: this kernel's meminfo lacks one of the lines.
 */
export function splitCache(
  host: Pick<HostMemory, 'buffers' | 'cached' | 'shmem' | 'sReclaimable' | 'dirty' | 'writeback'>,
  targets: readonly Pick<CacheTarget, 'cachedBytes' | 'memoryBytes' | 'unseenFiles'>[] | null,
): { machine: CacheSplit | null; limits: string[] } {
  const { buffers, cached, shmem, sReclaimable, dirty, writeback } = host;
  if (buffers === null || cached === null || shmem === null || sReclaimable === null)
    return { machine: null, limits: ['/proc/meminfo of this kernel lacks Buffers, Cached, Shmem or SReclaimable'] };
  // Shmem is counted in Cached. What targets have on a tmpfs is in it and is no file that could be dropped.
  const files = buffers + cached - shmem;
  const seen = targets?.reduce((sum, { cachedBytes, memoryBytes }) => sum + cachedBytes - memoryBytes, 0) ?? null;
  const asked = seen === 0 && targets?.some(({ unseenFiles }) => unseenFiles > 0) === true ? null : seen;
  // The files were looked at before the machine was: what was dropped in between must not make the rest negative.
  const modelFiles = asked === null ? null : Math.min(asked, files);
  return {
    machine: {
      modelFiles,
      otherFiles: files - (modelFiles ?? 0),
      shmem,
      slabReclaimable: sReclaimable,
      total: buffers + cached + sReclaimable,
      dirty,
      writeback,
    },
    limits:
      asked !== null && asked > files
        ? ['the cache shrank while it was looked at: the parts are cut to what is left']
        : [],
  };
}
