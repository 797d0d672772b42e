/** The verdict of a preparation, and its reason as a sentence. Pure. */

import { formatBoth, formatBytes } from '../../../base/format.ts';
import type { PrepareReport } from '../../../types/index.ts';
import { WHO_ASKS_FREE } from '../../memory/remedies.ts';
import type { Pool } from './pool.ts';

/**
 * Returns why no step can free enough; null: it may be possible.
 *
 * @param fragmented the judgement's finding of fragmentation; null: none.
 */
export function unreachableReason(pool: Pool, bytes: number, fragmented: string | null): string | null {
  const { afterReclaim, hidden, kind, reserve, safe, total } = pool;
  const sum = `${formatBoth(bytes)} and ${formatBoth(reserve.bytes)} for the host`;
  if (bytes + reserve.bytes > total) return `${sum} are more than this machine has at all: ${formatBoth(total)}`;
  if (safe.high === null || bytes <= safe.high + hidden) return null;
  const most = formatBoth(safe.high + hidden);
  // No program holds the memory that is missing where it is free, but not in large enough blocks.
  if (fragmented !== null && bytes + reserve.bytes <= (afterReclaim ?? 0) + hidden)
    return `${formatBoth(bytes)} are more than can be loaded: ${most}. ${fragmented}`;
  const where = kind === 'host' ? ' into the host’s memory' : '';
  return `${formatBoth(bytes)} are more than can be loaded${where} without ending a program: ${most} (${safe.from})`;
}

export interface PrepareOutcome {
  /** The reason to load nothing now, or why no step can free enough; null: neither. */
  refused: string | null;
  /** Whether a step is planned: what is there already is no plan. */
  planned: boolean;
  bytes: number;
  /** Pool at the end; of a dry run the prediction. */
  pool: Pool;
  /** The message of the first step that was not permitted; null: all were. */
  notPermitted: string | null;
}

export function verdictOf(outcome: PrepareOutcome): Pick<PrepareReport, 'verdict' | 'reason'> {
  const { bytes, notPermitted, planned, pool, refused } = outcome;
  if (refused !== null) return { verdict: 'not-enough', reason: refused };
  const { afterReclaim, immediate, reserve, safe } = pool;
  const sum = `${formatBoth(bytes)} and ${formatBytes(reserve.bytes)} for the host`;
  const hint = notPermitted === null ? '' : `. A step that would help is not permitted: ${notPermitted}`;
  if (safe.low === null) return { verdict: 'not-enough', reason: `how much can be loaded is not known: ${safe.from}` };
  if (bytes > safe.low) {
    const between =
      safe.between === null || bytes > (safe.high ?? 0)
        ? ''
        : `; up to ${formatBoth(safe.high)} may be, but ${safe.between}`;
    return {
      verdict: 'not-enough',
      reason: `${formatBoth(safe.low)} can be loaded for certain (${safe.from})${between}${hint}`,
    };
  }
  if (immediate !== null && immediate >= bytes + reserve.bytes) {
    const there = formatBoth(immediate);
    return planned
      ? { verdict: 'planned', reason: `after these steps ${there} would be available at once: enough for ${sum}` }
      : { verdict: 'enough', reason: `${there} are available at once: enough for ${sum}` };
  }
  return {
    verdict: 'after-reclaim',
    reason: `${sum} are not available at once: ${immediate === null ? 'how much is, is not known' : `${formatBoth(immediate)} are`}. The kernel takes the rest back (${formatBoth(afterReclaim)} in total) during the allocation; ${WHO_ASKS_FREE} may refuse to start${hint}`,
  };
}
