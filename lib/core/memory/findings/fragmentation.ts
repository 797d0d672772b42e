/** Rows about free memory in small blocks. GPU memory comes in blocks of 2 MiB, which the kernel can make of pages that move. */

import { formatBytes, MiB } from '../../../base/format.ts';
import { blockUse, GPU_BLOCK, pinnableInBlocks } from '../contiguity.ts';
import { headroom, unifiedDevice } from '../headroom.ts';
import { DROP_AND_COMPACT, orByUmaprobe } from '../remedies.ts';
import { hostFacts, safeByFloor, safeOnHost } from '../safe.ts';
import { isUntried } from '../untried-context.ts';
import { advice, applies, bytes, passed, type Row, takes, UNKNOWN_EFFECT, unknown } from './row.ts';

/** Part of what memory allows that is worth a warning when blocks take it away for certain. */
const MUCH = 0.25;

/** Part that is worth a sentence: the blocks of a machine in use are never all joined. */
const SOME = 0.05;

/** Less can be loaded than is available, because too little of it comes in large blocks, or may come in them. */
export const fragmentation: Row = {
  needs: ['cuda', 'nvml'],
  judge({ snapshot }) {
    const { contiguity, from, host } = snapshot;
    const device = unifiedDevice(snapshot);
    if (device === undefined) return passed('Only a GPU that shares the host’s memory needs large blocks of it.');
    if (contiguity === null || contiguity.length === 0)
      return unknown(`whether free memory is fragmented is not known${reason(from.contiguity)}`, undefined, {
        matters: true,
      });
    const { large, free, cma, stuck: anywhere } = blockUse(host, contiguity);
    // Free pages of other zones than Normal are stuck, too, and in none of these blocks.
    const stuck = anywhere === null ? null : Math.min(anywhere, free - large);
    const source = from.contiguity ?? '/proc/buddyinfo';
    const evidence = () => [
      bytes('in blocks of 2 MiB or more', large, source),
      bytes('in blocks of any size', free, source),
      ...(stuck === null ? [] : [bytes('between pages that do not move', stuck, '/proc/pagetypeinfo')]),
      ...(cma === 0 ? [] : [bytes('free CMA, not counted', cma, '/proc/meminfo')]),
    ];
    const facts = hostFacts(snapshot, device);
    const { low, high } = safeOnHost(facts);
    const { low: byFloor } = safeByFloor(facts);
    if (low === null || high === null || byFloor === null)
      return unknown('what can be loaded is not known, whatever the blocks are', evidence);
    const lost = byFloor - low;
    if (lost <= byFloor * SOME) return passed('Free memory comes in large enough blocks.', evidence);
    const open = high - low;
    const seen = `Free memory is fragmented: ${formatBytes(large)} of ${formatBytes(free)} are in blocks of 2 MiB or more, which GPU allocations need`;
    return applies({
      severity: open === 0 && lost >= byFloor * MUCH ? 'warning' : 'notice',
      bytes: lost,
      summary:
        open === 0
          ? `${seen}, and compaction cannot join ${formatBytes(stuck)} of the rest.`
          : `${seen}. Up to ${formatBytes(high)} can be loaded if compaction joins the rest; which pages move is in /proc/pagetypeinfo, which root reads.`,
      effect: takes(lost),
      evidence,
      remedy:
        open === 0
          ? advice('stop programs: their pages leave larger blocks; if that does not help, reboot')
          : {
              text: `${orByUmaprobe(DROP_AND_COMPACT)}; if that does not help, reboot`,
              command: DROP_AND_COMPACT,
              needsRoot: true,
              gains: null,
            },
    });
  },
};

const reason = (why: string | undefined): string => (why === undefined ? '' : ` (${why})`);

/**
 * Bytes in free blocks of 2 MiB or more. A context needs such blocks: one failed with 15 to 19 GiB available, about 1 GiB
 * free and no such block (hasso5703's notes, GB10).
 */
const FEW_BLOCKS = 64 * MiB;

/** Hardly any free block in which a context could begin, and the rest of the memory is page cache or fragments. */
export const contextBlocks: Row = {
  needs: ['cuda', 'nvml', 'context'],
  judge({ snapshot }) {
    const { contiguity, devices, from } = snapshot;
    const device = devices.find(isUntried);
    if (device?.memoryModel !== 'unified') return passed('A context was created, or needs no blocks of the host.');
    if (contiguity === null) return unknown(`the blocks of free memory are not known${reason(from.contiguity)}`);
    const { bytes: large } = pinnableInBlocks(snapshot, contiguity, GPU_BLOCK);
    const evidence = () => [bytes('in blocks of 2 MiB or more', large, from.contiguity ?? '/proc/buddyinfo')];
    if (large >= FEW_BLOCKS) return passed('Free blocks are there in which a context can begin.', evidence);
    return applies({
      severity: 'warning',
      summary: `A CUDA program may fail to start: only ${formatBytes(large)} are free in blocks of 2 MiB or more, which a context needs, though ${formatBytes(headroom(snapshot).afterReclaim)} can become free.`,
      effect: UNKNOWN_EFFECT,
      evidence,
      remedy: { text: orByUmaprobe(DROP_AND_COMPACT), command: DROP_AND_COMPACT, needsRoot: true, gains: null },
    });
  },
};
