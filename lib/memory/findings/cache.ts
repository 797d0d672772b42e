/** Findings about the page cache. */

import { formatBytes, GiB, inGiB } from '../../base/format.ts';
import { headroom, unifiedDevice } from '../headroom.ts';
import { DROP_PAGE_CACHE, WRITE_DIRTY, withReceipt } from '../remedies.ts';
import { bytes, type FindingRule, meminfo } from './finding.ts';

/** Share of MemTotal in page cache above which programs that read cudaMemGetInfo refuse models that fit. */
const CACHED_SHARE = 0.08;

/** "105.77 of 119.69 GiB look used but hold copies of files (page cache)". */
export function cachedText(cache: number, total: number): string {
  return `${inGiB(cache)} of ${inGiB(total)} GiB look used but hold copies of files (page cache)`;
}

/** "128 GB is not enough for 7B": cudaMemGetInfo counts page cache as used. */
export const pageCache: FindingRule = ({ snapshot }) => {
  const { immediate, afterReclaim, total } = headroom(snapshot);
  const device = unifiedDevice(snapshot);
  if (device === undefined || immediate === null || afterReclaim === null) return null;
  const cache = afterReclaim - immediate;
  if (cache < total * CACHED_SHARE) return null;
  const read = device.views.cudaMemGetInfo;
  return {
    code: 'page-cache',
    severity: 'notice',
    bytes: cache,
    summary: `${cachedText(cache, total)}, which give way to a program.`,
    evidence: [
      ...meminfo(snapshot, ['available', 'MemAvailable'], ['free', 'MemFree'], ['cached', 'Cached']),
      ...(read === null
        ? []
        : [bytes('free by cudaMemGetInfo', read, device.from['views.cudaMemGetInfo'] ?? 'cudaMemGetInfo')]),
    ],
    remedy: {
      text: `nothing to do, or: ${withReceipt(DROP_PAGE_CACHE)}`,
      command: DROP_PAGE_CACHE,
      needsRoot: true,
      gains: Math.max(0, cache - (snapshot.host.dirty ?? 0)),
    },
  };
};

/**
 * Dirty pages that matter: more than a desktop writes, and more than a checkpoint leaves for a moment. The kernel itself
 * begins to write at 10 % of memory.
 */
const DIRTY = 2 * GiB;

/** The kernel cannot give dirty pages back before they are written, and counts them as available all the same. */
export const dirtyCache: FindingRule = ({ snapshot }) => {
  const { dirty, writeback } = snapshot.host;
  const waiting = (dirty ?? 0) + (writeback ?? 0);
  if (waiting < DIRTY) return null;
  return {
    code: 'dirty-cache',
    severity: 'notice',
    bytes: waiting,
    summary: `${formatBytes(waiting)} of the page cache are not written to disk yet: an allocation that needs them waits for the disk.`,
    evidence: meminfo(snapshot, ['dirty', 'Dirty'], ['writeback', 'Writeback']),
    remedy: { text: `write them first: ${WRITE_DIRTY}`, command: WRITE_DIRTY, needsRoot: false, gains: waiting },
  };
};
