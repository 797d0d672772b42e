/** Rows about swap. GPU memory cannot be swapped, so swap helps only by moving other programs out of the way. */

import { formatBytes, GiB } from '../../../base/format.ts';
import type { Reading, Remedy } from '../../../types/index.ts';
import { lowMemory } from '../floor.ts';
import { unifiedDevice } from '../headroom.ts';
import { EMPTY_SWAP } from '../remedies.ts';
import { isLittleForSwap, SWAPPING_BYTES_PER_SECOND, swapExhausted, swapUse } from '../swap.ts';
import { advice, applies, bytes, command, count, meminfo, NOTHING, passed, REFUSES, type Row, unknown } from './row.ts';

const evidenceOf = (snapshot: Reading) => [
  ...meminfo(snapshot, 'swapTotal', 'swapFree', 'swapCached', 'available'),
  ...count('swappiness', snapshot.kernel.swappiness, '/proc/sys/vm/swappiness'),
];

const UNREAD = 'whether swap is full is not known: SwapTotal or SwapFree cannot be read';

function isUnread({ host }: Reading): boolean {
  return host.swapTotal === null || host.swapFree === null;
}

/** Swap was full with 38 of 120 GiB free in documented wedges (swap.ts). More free memory shows an earlier shortage. */
export const full: Row = {
  needs: ['cuda'],
  judge({ snapshot }) {
    const evidence = () => evidenceOf(snapshot);
    if (isUnread(snapshot)) {
      // Full swap refuses where little is available.
      const matters = unifiedDevice(snapshot) !== undefined && isLittleForSwap(snapshot.host);
      return unknown(UNREAD, evidence, { matters });
    }
    const use = swapUse(snapshot.host);
    if (use === null) return passed('There is no swap; GPU memory could not use it anyway.', evidence);
    if (!use.full) return passed('Swap has free space.', evidence);
    const exhausted = swapExhausted(snapshot.host);
    const seen = `${formatBytes(use.used)} of ${formatBytes(use.total)} swap are used`;
    return applies({
      severity: exhausted ? 'warning' : 'notice',
      bytes: use.used,
      summary: exhausted
        ? `${seen}, and only ${formatBytes(snapshot.host.available)} are available: nothing more can be moved out of the way.`
        : `${seen}: they show an earlier shortage; enough is available now.`,
      effect: exhausted && unifiedDevice(snapshot) !== undefined ? REFUSES : NOTHING,
      evidence,
      remedy: exhausted ? STOP_SWAPPED : emptySwap(snapshot, use.used),
    });
  },
};

/** A machine that swaps is short of memory, whatever is free: a rate of pages in and out, from two readings. */
export const traffic: Row = {
  needs: ['swapBytesPerSecond'],
  judge({ swapBytesPerSecond: rate }) {
    if (rate === null || rate === undefined) return unknown('/proc/vmstat does not say how much is swapped');
    const evidence = () => [bytes('moved per second', rate, '/proc/vmstat pswpin, pswpout')];
    if (rate < SWAPPING_BYTES_PER_SECOND) return passed('Hardly anything moves to or from swap.', evidence);
    return applies({
      severity: 'warning',
      summary: `${formatBytes(rate)} per second move between memory and swap (limit ${formatBytes(SWAPPING_BYTES_PER_SECOND)}): this machine is short of memory already.`,
      effect: REFUSES,
      evidence,
      remedy: advice('wait until the swap traffic stops (umaprobe watch)'),
    });
  },
};

/** Swap in use that is worth a sentence: an idle desktop moves less out. */
const SWAPPED = 2 * GiB;

export const used: Row = {
  needs: [],
  judge({ snapshot }) {
    const use = swapUse(snapshot.host);
    const evidence = () => evidenceOf(snapshot);
    if (isUnread(snapshot)) return unknown(UNREAD, evidence);
    if (use === null || use.full || use.used < SWAPPED) return passed('Little is in swap, or swap is full.', evidence);
    return applies({
      severity: 'notice',
      bytes: use.used,
      summary: `${formatBytes(use.used)} of ${formatBytes(use.total)} of swap are in use: memory of programs was moved out, now or at an earlier shortage.`,
      evidence,
      remedy: emptySwap(snapshot, use.used),
    });
  },
};

const STOP_SWAPPED = advice('stop the programs that were swapped out: umaprobe processes names them', { gains: 0 });

/** Emptying swap takes as much memory, which must be there besides the floor. */
function emptySwap({ host }: Reading, inSwap: number): Remedy {
  const fits = host.available !== null && host.available >= inSwap + lowMemory(host.total).low;
  return fits
    ? command('move it back now that memory is free', EMPTY_SWAP, { needsRoot: true, gains: 0 })
    : STOP_SWAPPED;
}
