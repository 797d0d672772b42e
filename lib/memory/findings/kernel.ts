/** Findings about the kernel's settings and state: CMA, huge pages, blocks, watermarks, pressure, swap. */

import { capitalized, formatBytes, formatPercent, GiB } from '../../base/format.ts';
import type { Evidence, Psi, Snapshot } from '../../types/index.ts';
import { cmaPhantom } from '../cma.ts';
import { fragmentation, isFragmentedMemory } from '../contiguity.ts';
import { lowMemory } from '../floor.ts';
import { headroom, unifiedDevice } from '../headroom.ts';
import { judgePressure, NOTICEABLE_PERCENT } from '../pressure.ts';
import { BOOT_WITHOUT_KHO, DROP_AND_COMPACT, EMPTY_SWAP, RELEASE_HUGE_PAGES, withReceipt } from '../remedies.ts';
import { silentLibraries } from '../silent.ts';
import { swapExhausted, swapUse } from '../swap.ts';
import { ownMinFreeKib, raisedMinFree, setMinFree } from '../watermarks.ts';
import { bytes, type FindingRule, HOG_SHARE, meminfo, NOTHING_TO_DO } from './finding.ts';

/**
 * Kernel 7.0.0 with kexec-handover: 9.30 GiB of "free" that ibv_reg_mr and cudaMalloc cannot pin (NV-Kernels PR 590).
 */
export const phantom: FindingRule = ({ snapshot }) => {
  const amount = cmaPhantom(snapshot.host);
  if (amount < GiB) return null;
  return {
    code: 'cma-phantom',
    severity: 'warning',
    bytes: amount,
    summary: `${formatBytes(amount)} of the free memory cannot hold GPU memory (CMA left by kexec-handover).`,
    evidence: meminfo(snapshot, ['cmaFree', 'CmaFree'], ['cmaTotal', 'CmaTotal']),
    remedy: { text: `${BOOT_WITHOUT_KHO} to get it back`, command: null, needsRoot: true, gains: amount },
  };
};

/** NVIDIA's rule and llama.cpp count free huge pages only, as soon as one is reserved. */
export const hugePages: FindingRule = ({ snapshot }) => {
  const { hugePagesFree, hugePageSize, hugePagesTotal, hugetlb, total } = snapshot.host;
  const reserved = hugetlb ?? (hugePagesTotal ?? 0) * (hugePageSize ?? 0);
  const views = unifiedDevice(snapshot)?.views;
  if ((hugePagesTotal ?? 0) === 0 || (views === undefined && reserved < total * HOG_SHARE)) return null;
  const free = hugePagesFree === null || hugePageSize === null ? null : hugePagesFree * hugePageSize;
  return {
    code: 'huge-pages',
    severity: views === undefined ? 'notice' : 'warning',
    bytes: reserved,
    summary:
      views === undefined
        ? `${formatBytes(reserved)} are reserved as huge pages: programs that do not ask for such pages have that much less.`
        : `Huge pages are reserved, so NVIDIA's guidance answers ${formatBytes(views.nvidiaGuidance)} and llama.cpp ${formatBytes(views.llamaCpp)}, while ${formatBytes(headroom(snapshot).safe)} can be loaded.`,
    evidence: [
      { name: 'HugePages_Total', value: hugePagesTotal ?? 0, unit: 'count', from: '/proc/meminfo' },
      ...(hugePagesFree === null
        ? []
        : [{ name: 'HugePages_Free', value: hugePagesFree, unit: 'count', from: '/proc/meminfo' } as const]),
      ...meminfo(snapshot, ['hugePageSize', 'Hugepagesize'], ['hugetlb', 'Hugetlb']),
    ],
    remedy: {
      text: `release them if nothing needs them: ${RELEASE_HUGE_PAGES}`,
      command: RELEASE_HUGE_PAGES,
      needsRoot: true,
      gains: free,
    },
  };
};

export const fragmented: FindingRule = ({ snapshot }) => {
  const measure = fragmentation(snapshot);
  if (measure === null || !isFragmentedMemory(snapshot)) return null;
  const { cma, free, large } = measure;
  const from = snapshot.from.contiguity ?? '/proc/buddyinfo';
  return {
    code: 'fragmentation',
    severity: 'warning',
    bytes: free - large,
    summary: `Free memory is fragmented: ${formatBytes(large)} of ${formatBytes(free)} are in blocks of 2 MiB or more, which GPU allocations need${cma === 0 ? '' : ` (without ${formatBytes(cma)} of CMA)`}.`,
    evidence: [bytes('in blocks of 2 MiB or more', large, from), bytes('in blocks of any size', free, from)],
    remedy: {
      text: `${withReceipt(DROP_AND_COMPACT)}; if that does not help, reboot`,
      command: DROP_AND_COMPACT,
      needsRoot: true,
      gains: null,
    },
  };
};

export const watermarks: FindingRule = ({ snapshot }) => {
  const raised = raisedMinFree(snapshot);
  if (raised === null) return null;
  const own = ownMinFreeKib(snapshot);
  return {
    code: 'watermarks',
    severity: 'warning',
    bytes: raised.lowers,
    summary: `min_free_kbytes is raised: MemAvailable is lower by about ${formatBytes(raised.lowers)}, and programs that check it may refuse to start.`,
    evidence: [
      bytes('min_free_kbytes', raised.minFree, snapshot.from['kernel.minFree'] ?? '/proc/sys/vm/min_free_kbytes'),
      ...meminfo(snapshot, ['available', 'MemAvailable'], ['free', 'MemFree']),
    ],
    remedy:
      own === null
        ? {
            text: 'set it back: remove it from sysctl.conf and sysctl.d',
            command: null,
            needsRoot: true,
            gains: raised.lowers,
          }
        : {
            text: `set it back to the kernel’s own choice: ${setMinFree(own)}`,
            command: setMinFree(own),
            needsRoot: true,
            gains: raised.lowers,
          },
  };
};

function psi(name: string, values: Psi, from: string): Evidence[] {
  return (['avg10', 'avg60', 'avg300'] as const).map((mean) => ({
    name: `${name} ${mean}`,
    value: values[mean],
    unit: 'percent',
    from,
  }));
}

/** What stands in the way now, by the one judgement of pressure.ts. */
export const pressure: FindingRule = ({ snapshot }) => {
  const [silent] = silentLibraries(snapshot);
  const facts = { ...snapshot, silent: silent === undefined ? null : `${silent.name} does not answer` };
  const { level, next, state, text } = judgePressure(facts);
  if (snapshot.pressure === null || state === 'none' || state === 'unknown' || level === 'ok') return null;
  const from = snapshot.from.pressure ?? '/proc/pressure/memory';
  return {
    code: 'pressure',
    severity: level,
    bytes: null,
    summary: `${capitalized(text)}.`,
    evidence: [...psi('some', snapshot.pressure.some, from), ...psi('full', snapshot.pressure.full, from)],
    remedy: { text: next ?? NOTHING_TO_DO, command: null, needsRoot: false, gains: null },
  };
};

/** The share of the last 10 s is this many times that of the last minute, and that one that of the last 5. */
const RISING = 2;

/**
 * Tasks wait more and more, though not yet so much that `pressure` applies: in the wedges on record it went from 0 to 92 %
 * within two minutes (blackbox).
 */
export const pressureRising: FindingRule = (facts) => {
  const { pressure: reading, from, host } = facts.snapshot;
  if (reading === null || pressure(facts) !== null) return null;
  const { avg10, avg60, avg300 } = reading.some;
  if (avg10 < NOTICEABLE_PERCENT || avg10 < RISING * avg60 || avg60 < RISING * avg300) return null;
  const source = from.pressure ?? '/proc/pressure/memory';
  const left = host.available === null ? '' : `, with ${formatBytes(host.available)} available`;
  return {
    code: 'pressure-rising',
    severity: 'notice',
    bytes: null,
    summary: `Tasks begin to wait for memory: ${formatPercent(avg10)} of the last 10 s, ${formatPercent(avg60)} of the last minute${left}.`,
    evidence: psi('some', reading.some, source),
    remedy: {
      text: 'watch it while programs load: umaprobe watch',
      command: 'umaprobe watch',
      needsRoot: false,
      gains: null,
    },
  };
};

/** Swap in use that is worth a sentence: an idle desktop moves less out. */
const SWAPPED = 2 * GiB;

export const swapFull: FindingRule = ({ snapshot }) => {
  const use = swapUse(snapshot.host);
  if (use === null || !use.full) return null;
  return {
    code: 'swap-full',
    severity: 'warning',
    bytes: use.used,
    summary: `Swap is full (${formatBytes(use.used)} of ${formatBytes(use.total)})${swapExhausted(snapshot.host) ? ', and little is available: nothing more can be moved out of the way' : ''}; GPU memory cannot be swapped.`,
    evidence: meminfo(snapshot, ['swapTotal', 'SwapTotal'], ['swapFree', 'SwapFree'], ['available', 'MemAvailable']),
    remedy: emptySwap(snapshot, use.used),
  };
};

export const swapUsed: FindingRule = ({ snapshot }) => {
  const use = swapUse(snapshot.host);
  if (use === null || use.full || use.used < SWAPPED) return null;
  return {
    code: 'swap-used',
    severity: 'notice',
    bytes: use.used,
    summary: `${formatBytes(use.used)} of ${formatBytes(use.total)} of swap are in use: memory of programs was moved out, now or at an earlier shortage.`,
    evidence: meminfo(snapshot, ['swapTotal', 'SwapTotal'], ['swapFree', 'SwapFree'], ['swapCached', 'SwapCached']),
    remedy: emptySwap(snapshot, use.used),
  };
};

/** Emptying swap takes as much memory, which must be there besides the floor. */
function emptySwap({ host }: Snapshot, used: number) {
  const fits = host.available !== null && host.available >= used + lowMemory(host.total).low;
  const text = fits
    ? `move it back now that memory is free: ${EMPTY_SWAP}`
    : 'stop the programs that were swapped out: umaprobe processes names them';
  return { text, command: fits ? EMPTY_SWAP : null, needsRoot: fits, gains: 0 };
}
