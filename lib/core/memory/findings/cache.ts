/** Rows about the page cache. */

import { formatBytes, GiB, inGiB } from '../../../base/format.ts';
import type { Reading } from '../../../types/index.ts';
import { headroom, unifiedDevice } from '../headroom.ts';
import { DROP_PAGE_CACHE, orByUmaprobe, WRITE_DIRTY } from '../remedies.ts';
import { cacheOnNode } from './gpu.ts';
import { applies, bytes, command, meminfo, passed, type Row, type RowOutcome, unknown, unknownCounter } from './row.ts';

/** Share of MemTotal in page cache above which programs that read cudaMemGetInfo refuse models that fit. */
const CACHED_SHARE = 0.08;

/** "128 GB is not enough for 7B": cudaMemGetInfo counts page cache as used. */
export const pageCache: Row = {
  needs: ['cuda'],
  judge({ snapshot }) {
    const { immediate, afterReclaim, total } = headroom(snapshot);
    const device = unifiedDevice(snapshot);
    const read = device?.views.cudaMemGetInfo ?? null;
    const evidence = () => [
      ...meminfo(snapshot, 'available', 'free', 'cached'),
      ...(read === null
        ? []
        : [bytes('free by cudaMemGetInfo', read, device?.from['views.cudaMemGetInfo'] ?? 'cudaMemGetInfo')]),
    ];
    if (device === undefined)
      return (
        cacheOnGpu(snapshot) ??
        passed('No GPU here shares the host’s memory: its page cache takes nothing from a GPU.', evidence)
      );
    if (immediate === null || afterReclaim === null) return unknown('what is available is not known', evidence);
    const cache = afterReclaim - immediate;
    if (cache < total * CACHED_SHARE) return passed('Little memory only looks used.', evidence);
    return applies({
      severity: 'notice',
      bytes: cache,
      summary: `${inGiB(cache)} of ${inGiB(total)} GiB look used but hold copies of files (page cache), which give way to a program.`,
      evidence,
      remedy: {
        text: `before PyTorch loads: ${orByUmaprobe(DROP_PAGE_CACHE)}`,
        command: DROP_PAGE_CACHE,
        needsRoot: true,
        gains: Math.max(0, cache - (snapshot.host.dirty ?? 0)),
      },
    });
  },
};

/** A GH200's page cache may lie on the NUMA node of its GPU, where CUDA counts it as used. */
function cacheOnGpu({ devices }: Reading): RowOutcome | null {
  const [most] = devices
    .flatMap((device) => {
      const { nvml } = device;
      const cache = cacheOnNode(device) ?? 0;
      return nvml !== null && cache >= nvml.total * CACHED_SHARE ? [{ device, cache, total: nvml.total }] : [];
    })
    .sort((a, b) => b.cache - a.cache);
  if (most === undefined) return null;
  const { cache, device, total } = most;
  return applies({
    severity: 'notice',
    bytes: cache,
    summary: `${inGiB(cache)} of ${inGiB(total)} GiB of GPU ${device.index} look used but hold copies of files (page cache on its NUMA node); a load may not get them.`,
    evidence: () => [bytes('page cache on the GPU', cache, device.from.allocatable ?? 'meminfo of its NUMA node')],
    remedy: command('give them back first', DROP_PAGE_CACHE, { needsRoot: true, gains: cache }),
  });
}

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
    const evidence = () => meminfo(snapshot, 'dirty', 'writeback');
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
