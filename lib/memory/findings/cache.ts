/** Rows about the page cache. */

import { formatBytes, GiB, inGiB } from '../../base/format.ts';
import { headroom, unifiedDevice } from '../headroom.ts';
import { DROP_PAGE_CACHE, WRITE_DIRTY, withReceipt } from '../remedies.ts';
import { applies, bytes, command, meminfo, passed, type Row, unknown, unknownCounter } from './row.ts';

/** Share of MemTotal in page cache above which programs that read cudaMemGetInfo refuse models that fit. */
const CACHED_SHARE = 0.08;

/** "128 GB is not enough for 7B": cudaMemGetInfo counts page cache as used. */
export const pageCache: Row = {
  needs: ['cuda'],
  judge({ snapshot }) {
    const { immediate, afterReclaim, total } = headroom(snapshot);
    const device = unifiedDevice(snapshot);
    const read = device?.views.cudaMemGetInfo ?? null;
    const evidence = [
      ...meminfo(snapshot, 'available', 'free', 'cached'),
      ...(read === null
        ? []
        : [bytes('free by cudaMemGetInfo', read, device?.from['views.cudaMemGetInfo'] ?? 'cudaMemGetInfo')]),
    ];
    if (device === undefined)
      return passed('No GPU here shares the host’s memory: its page cache takes nothing from a GPU.', evidence);
    if (immediate === null || afterReclaim === null) return unknown('what is available is not known', evidence);
    const cache = afterReclaim - immediate;
    if (cache < total * CACHED_SHARE) return passed('Little memory only looks used.', evidence);
    return applies({
      severity: 'notice',
      bytes: cache,
      summary: `${inGiB(cache)} of ${inGiB(total)} GiB look used but hold copies of files (page cache), which give way to a program.`,
      evidence,
      remedy: {
        text: `nothing to do, or: ${withReceipt(DROP_PAGE_CACHE)}`,
        command: DROP_PAGE_CACHE,
        needsRoot: true,
        gains: Math.max(0, cache - (snapshot.host.dirty ?? 0)),
      },
    });
  },
};

/**
 * Dirty pages that matter: more than a desktop writes, and more than a checkpoint leaves for a moment. The kernel itself
 * begins to write at 10 % of memory.
 */
const DIRTY = 2 * GiB;

/** The kernel cannot give dirty pages back before they are written, and counts them as available all the same. */
export const dirty: Row = {
  needs: [],
  judge({ snapshot }) {
    const { dirty: unwritten, writeback } = snapshot.host;
    if (unwritten === null) return unknownCounter(snapshot, 'dirty');
    const waiting = unwritten + (writeback ?? 0);
    const evidence = meminfo(snapshot, 'dirty', 'writeback');
    if (waiting < DIRTY) return passed('Nearly all of the page cache is written to disk.', evidence);
    return applies({
      severity: 'notice',
      bytes: waiting,
      summary: `${formatBytes(waiting)} of the page cache are not written to disk yet: an allocation that needs them waits for the disk.`,
      evidence,
      remedy: command('write them first', WRITE_DIRTY, { gains: waiting }),
    });
  },
};
