/** The verdict of a preparation, and its reason as a sentence. Pure. */

import { formatBoth, formatBytes } from '../../base/format.ts';
import type { Fragmentation } from '../../memory/contiguity.ts';
import type { PrepareReport } from '../../types/index.ts';
import { maximumAvailable, type Pool } from './pool.ts';

/** Why no step can free enough; null: it may be possible. */
export function unreachableReason(pool: Pool, bytes: number, reserve: number): string | null {
  const need = bytes + reserve;
  const sum = `${formatBoth(bytes)} and ${formatBoth(reserve)} for the host`;
  if (need > pool.total) return `${sum} are more than this machine has at all: ${formatBoth(pool.total)}`;
  const maximum = maximumAvailable(pool);
  if (maximum !== null && need > maximum)
    return `${sum} are more than can be made available without ending a program: ${formatBoth(maximum)}`;
  if (pool.limit !== null && bytes > pool.limit)
    return `${formatBoth(bytes)} are more than CUDA can give now: ${formatBoth(pool.limit)}, its own total of the device less what processes hold`;
  return null;
}

export interface Outcome {
  /** From `unreachableReason`. */
  unreachable: string | null;
  dryRun: boolean;
  bytes: number;
  /** What stays for the host. */
  reserve: number;
  /** At the end; of a dry run as predicted. */
  pool: Pool;
  fragmentation: Fragmentation | null;
  /** The message of the first step that was not permitted; null: all were. */
  refused: string | null;
}

export function verdictOf(outcome: Outcome): Pick<PrepareReport, 'verdict' | 'reason'> {
  const { unreachable, bytes, reserve, pool, refused } = outcome;
  if (unreachable !== null) return { verdict: 'not-enough', reason: unreachable };
  const need = bytes + reserve;
  const sum = `${formatBoth(bytes)} and ${formatBytes(reserve)} for the host`;
  if (pool.immediate !== null && pool.immediate >= need) return enoughVerdict(outcome, sum);
  const shortage = `${sum} are not available at once: ${formatBoth(pool.immediate)} are`;
  const hint = refused === null ? '' : `. A step that would help is not permitted: ${refused}`;
  if (pool.available !== null && pool.available >= need)
    return {
      verdict: 'after-reclaim',
      reason: `${shortage}. The kernel reclaims the rest (${formatBoth(pool.available)} in total) during the allocation; programs that check cudaMemGetInfo first may refuse to start${hint}`,
    };
  return {
    verdict: 'not-enough',
    reason: `${shortage}, and ${formatBoth(pool.available)} after the kernel has reclaimed all it can${hint}`,
  };
}

function enoughVerdict(
  { dryRun, fragmentation, pool }: Outcome,
  sum: string,
): Pick<PrepareReport, 'verdict' | 'reason'> {
  const available = formatBoth(pool.immediate);
  if (dryRun)
    return {
      verdict: 'planned',
      reason: `after these steps ${available} would be available at once: enough for ${sum}`,
    };
  if (fragmentation?.fragmented === true)
    return {
      verdict: 'not-enough',
      reason:
        `${available} are free but fragmented: ${formatBytes(fragmentation.large)} are in blocks of 2 MiB or more, which GPU allocations take. ` +
        'A launch may stall for minutes or fail; only a reboot helps',
    };
  return { verdict: 'enough', reason: `${available} are available at once: enough for ${sum}` };
}
