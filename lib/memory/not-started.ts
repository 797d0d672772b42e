/** Rules for machines on which stress does not start although memory is available: swap that is full, few large blocks. */

import { formatBytes, formatCount } from '../base/format.ts';
import { formatBlockSize, GATE_BLOCK, missingBlocks, readGate } from './contiguity.ts';
import { unifiedDevice } from './headroom.ts';
import { DROP_AND_COMPACT, withReceipt } from './remedies.ts';
import { swapExhausted, swapUse } from './swap.ts';
import type { Rule } from './verdict.ts';

/** In the best documented wedges swap was full with 38 of 120 GiB free (swap.ts). */
export const swapFull: Rule = (snapshot) => {
  const use = swapUse(snapshot.host);
  if (unifiedDevice(snapshot) === undefined || use === null || !swapExhausted(snapshot.host)) return null;
  return {
    level: 'warning',
    text: `${formatBytes(use.used)} of ${formatBytes(use.total)} swap are used, and only ${formatBytes(snapshot.host.available)} are available: nothing more can be moved out of the way.`,
    next: 'end the programs that were swapped out, or run swapoff and swapon when enough memory is free',
  };
};

/** Not fragmented by the share of 2 MiB blocks, but without the blocks of 32 MiB that a launch of a large model needs. */
export const fewLargeBlocks: Rule = (snapshot) => {
  const { contiguity } = snapshot;
  if (contiguity === null || contiguity.length === 0 || unifiedDevice(snapshot) === undefined) return null;
  const gate = readGate(snapshot, contiguity);
  if (missingBlocks(snapshot, gate) === 0) return null;
  return {
    level: 'notice',
    text: `Free memory is in small pieces: ${formatCount(gate.blocks)} × ${formatBlockSize(GATE_BLOCK)} where the launch of a large model needs ${formatCount(gate.needBlocks)}, so it may stall for minutes.`,
    next: withReceipt(DROP_AND_COMPACT),
  };
};
