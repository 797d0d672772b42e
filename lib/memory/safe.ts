/**
 * What a program can load, by the rule that stress keeps to: the host keeps its floor, and a device's other users their
 * share.
 */

import { formatBytes } from '../base/format.ts';
import type { FreeBlocks, HostMemory, MemoryModel, OtherUsers, ProbeHeader } from '../types/index.ts';
import { unpinnable } from './cma.ts';
import { hostFragmentation, largeBlockHeadroom } from './contiguity.ts';
import { floorFor, PROGRAM_BYTES, stepMargin } from './floor.ts';
import { defaultShare, floorWithShare, shareFor } from './others.ts';

/** Host memory that a program on a unified device must leave, in bytes. */
export interface Reserve {
  floor: NonNullable<ProbeHeader['floor']>;
  /** The floor, the margin of a step above it, and what the program takes besides its data. */
  bytes: number;
  /** The same as a sentence. */
  from: string;
}

/**
 * The host memory that stays when a program has loaded what is safe.
 *
 * @param requested floor in bytes; null: the default.
 * @param others who else uses the device; null: nobody.
 */
export function reserveFor(total: number, requested: number | null, others: OtherUsers | null): Reserve {
  const idle = requested === null ? idleReserve(total) : null;
  if (idle !== null && (others === null || defaultShare(others.bytes) <= idle.floor.bytes)) return idle;
  return reserveOf(floorOf(total, requested, others));
}

function reserveOf(floor: Reserve['floor']): Reserve {
  const margin = stepMargin(floor.bytes);
  return {
    floor,
    bytes: floor.bytes + margin + PROGRAM_BYTES,
    from: `${formatBytes(floor.bytes)} for the host (${floor.from}), ${formatBytes(margin)} of margin and ${PROGRAM_TEXT}`,
  };
}

const PROGRAM_TEXT = `${formatBytes(PROGRAM_BYTES)} for the program itself`;

/** Of the last MemTotal, which does not change: its sentence takes 5 µs, and a snapshot 90. */
let known: { total: number; reserve: Reserve } | null = null;

/** The default where no other user needs more than the floor. */
function idleReserve(total: number): Reserve {
  if (known?.total !== total) known = { total, reserve: reserveOf(floorOf(total, null, null)) };
  return known.reserve;
}

function floorOf(total: number, requested: number | null, others: OtherUsers | null): Reserve['floor'] {
  const model = 'unified';
  const floor = floorWithShare(floorFor(requested, { total, model }, ['device']), shareFor(null, others), model);
  if (floor === null) throw new Error('device memory on a unified device takes host memory');
  return floor;
}

type Safe = { bytes: number | null; from: string };

export interface HostFacts {
  host: HostMemory;
  contiguity: readonly FreeBlocks[] | null;
  poolBytes: number | null;
  others: OtherUsers | null;
  /** CUDA's own total less what processes hold of it; null: unknown. */
  cudaLeft: number | null;
}

/** On a unified device. */
export function safeOnHost({ contiguity, cudaLeft, host, others, poolBytes }: HostFacts): Safe {
  const { available } = host;
  if (available === null) return { bytes: null, from: 'MemAvailable could not be read' };
  const pools = poolBytes ?? 0;
  const cma = unpinnable(host).afterReclaim;
  const reserve = reserveFor(host.total, null, others);
  const minusCma = cma > 0 ? ' − CMA' : '';
  const plusPools = pools > 0 ? ' + driver pools' : '';
  const aboveFloor = available - cma + pools - reserve.bytes;
  const blocks = contiguity === null ? null : fragmentedRoom(host, contiguity);
  const limits = [
    {
      bytes: aboveFloor,
      from: `MemAvailable${minusCma}${plusPools} less ${reserve.from}`,
    },
    ...(blocks === null
      ? []
      : [
          {
            bytes: blocks + pools - PROGRAM_BYTES,
            from: `free memory is fragmented: blocks of 2 MiB, and page cache that can become such blocks${plusPools}, less ${PROGRAM_TEXT}`,
          },
        ]),
    ...(cudaLeft === null
      ? []
      : [{ bytes: cudaLeft, from: 'CUDA’s own total of the device, less what processes hold' }]),
  ];
  const { bytes, from } = limits.reduce((least, limit) => (limit.bytes < least.bytes ? limit : least));
  return { bytes: Math.max(0, Math.floor(bytes)), from };
}

/**
 * Where so little of the free memory is in large blocks that an allocation stalls, only these can be loaded, as in
 * stress; null: free memory is not fragmented, and the kernel makes the blocks while it allocates.
 */
function fragmentedRoom(host: HostMemory, contiguity: readonly FreeBlocks[]): number | null {
  const { fragmented, large, telling } = hostFragmentation(host, contiguity);
  if (!fragmented || !telling) return null;
  return largeBlockHeadroom({ inLargeBlocks: large, memAvailable: host.available, memFree: host.free });
}

/**
 * On a device with memory of its own, where an allocation that does not fit is refused and the host loses nothing.
 *
 * @param immediate free bytes of the device; null: unknown.
 */
export function safeOnDevice(
  { cuda, model, others }: { model: MemoryModel; cuda: object | null; others: OtherUsers | null },
  immediate: number | null,
): Safe {
  if (immediate === null) return { bytes: null, from: 'free memory of the device is not known' };
  if (model === 'unknown')
    return {
      bytes: null,
      from: 'whether this GPU shares the host’s memory is not known, nor what must stay for the host',
    };
  const share = shareFor(null, others);
  // cudaMemGetInfo was read with a context in place, NVML without.
  const own = cuda === null ? PROGRAM_BYTES : 0;
  const less = [
    ...(share === null ? [] : [`${formatBytes(share.bytes)} for the GPU’s other users (${share.from})`]),
    ...(own === 0 ? [] : [`${formatBytes(own)} for the program’s CUDA context`]),
  ];
  const rest =
    model === 'coherent' ? '; page cache on the GPU’s NUMA node, which reclaim may free, is not counted' : '';
  return {
    bytes: Math.max(0, immediate - (share?.bytes ?? 0) - own),
    from: `immediate${less.length === 0 ? '' : ` less ${less.join(' and ')}`}${rest}`,
  };
}
