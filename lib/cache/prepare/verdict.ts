/** How a preparation ends, in a word and in a sentence. */
import { formatBoth, formatBytes } from '../../base/format.ts';
import type { Fragmentation } from '../../memory/contiguity.ts';
import type { PrepareReport } from '../../types/index.ts';
import { type Pool, reachable } from './pool.ts';

/** Why no step can help; null: one may. */
export function hopeless(pool: Pool, bytes: number, floor: number): string | null {
  const need = bytes + floor;
  const sum = `${formatBoth(bytes)} and ${formatBoth(floor)} that the host keeps`;
  if (need > pool.total) return `${sum} are more than this machine has at all: ${formatBoth(pool.total)}`;
  const most = reachable(pool);
  if (most === null || need <= most) return null;
  return `${sum} are more than can be had without ending a program: ${formatBoth(most)}`;
}

export interface Ending {
  never: string | null;
  dryRun: boolean;
  bytes: number;
  floor: number;
  /** At the end; of a dry run as expected. */
  pool: Pool;
  fragmentation: Fragmentation | null;
  /** What a step that was not allowed said; null: all were. */
  refused: string | null;
}

export function verdictOf(ending: Ending): Pick<PrepareReport, 'verdict' | 'reason'> {
  const { never, dryRun, bytes, floor, fragmentation, pool, refused } = ending;
  if (never !== null) return { verdict: 'not-enough', reason: never };
  const need = bytes + floor;
  const sum = `${formatBoth(bytes)} and ${formatBytes(floor)} for the host`;
  if (pool.immediate !== null && pool.immediate >= need) {
    if (fragmentation?.fragmented === true && !dryRun)
      return {
        verdict: 'not-enough',
        reason:
          `${formatBoth(pool.immediate)} are free but fragmented: ${formatBytes(fragmentation.large)} are in blocks of 2 MiB or more, which GPU allocations take. ` +
          'A launch may stall for minutes or fail; only a reboot puts them together',
      };
    return dryRun
      ? {
          verdict: 'planned',
          reason: `by this plan ${formatBoth(pool.immediate)} can be had at once: enough for ${sum}`,
        }
      : { verdict: 'enough', reason: `${formatBoth(pool.immediate)} can be had at once: enough for ${sum}` };
  }
  const short = `${sum} are not there at once: ${formatBoth(pool.immediate)} are`;
  const how = refused === null ? '' : `. What would help is not allowed here: ${refused}`;
  if (pool.afterReclaim !== null && pool.afterReclaim >= need)
    return {
      verdict: 'after-reclaim',
      reason: `${short}. The kernel takes back the rest (${formatBoth(pool.afterReclaim)} in all) while it is allocated; programs that ask cudaMemGetInfo first may refuse${how}`,
    };
  return {
    verdict: 'not-enough',
    reason: `${short}, and ${formatBoth(pool.afterReclaim)} once the kernel has given back what it can${how}`,
  };
}
