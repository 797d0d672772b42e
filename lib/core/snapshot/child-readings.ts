/** cudaMemGetInfo from a child process: which devices are asked, and what each answer means. */

import { type Failure, UmaError } from '../../base/errors.ts';
import { formatCount } from '../../base/format.ts';
import { lazy } from '../../base/lazy.ts';
import type { DriverFacts, MemGetInfo } from '../../types/index.ts';
import { hasPools } from '../memory/headroom.ts';
import { hasOwnLimit } from '../memory/model.ts';
import type { NativeCudaReport } from '../native/contract.ts';
import type { ChildAnswer, ChildLine } from './mem-get-info-child.ts';

export interface ChildReadings {
  /** A reading with its source, its failure, or the reason why a device was not asked, for each ordinal. */
  answers: Map<number, (MemGetInfo & { from: string }) | Failure | string>;
  /** The same for every ordinal that is not in `answers`. */
  missing: Failure | string;
}

/** Facts that decide which devices are asked. */
export interface Asking {
  driver: DriverFacts;
  /** MemTotal, in bytes. */
  hostTotal: number;
  /** True if a context may be tried on a device that shares the host's memory (core/memory/untried-context.ts). */
  mayTry: boolean;
}

/** Such a device answers MemFree, which is known; it is not known that a context can be created. */
export const NOT_NEEDED =
  'not asked: on an integrated GPU it reports MemFree, and the context that it needs takes memory (memGetInfo: child asks)';

/** Ordinals of the devices that have to be asked. */
export function ordinalsToAsk(
  mode: 'needed' | 'child',
  { devices }: Pick<NativeCudaReport, 'devices'>,
  asking: Asking,
): number[] {
  return devices
    .filter((device) => device.memGetInfo === undefined && (mode === 'child' || isAsked(device, asking)))
    .flatMap(({ ordinal }) => (ordinal === undefined ? [] : [ordinal]));
}

/** Loaded by the first reading in a child process, because node:child_process takes 3 ms. */
const loadChild = lazy(() => import('./mem-get-info-child.ts'));

/** A child that cannot be loaded or started costs its readings, and not the snapshot. */
async function askChild(ordinals: readonly number[], deadlineMs: number): Promise<ChildAnswer> {
  try {
    const { readMemGetInfoInChild } = await loadChild();
    return await readMemGetInfoInChild(ordinals, deadlineMs);
  } catch (error) {
    if (!(error instanceof UmaError)) throw error;
    return { lines: [], missing: `${error.code}: ${error.message}` };
  }
}

/** null: no child is needed, because there is no device, all readings exist, or CUDA already hangs. */
export async function readInChild(
  mode: 'needed' | 'child',
  cuda: NativeCudaReport,
  asking: Asking,
  deadlineMs: number,
): Promise<ChildReadings | null> {
  if (cuda.timedOut !== null || typeof cuda.deviceCount !== 'number' || cuda.deviceCount === 0) return null;
  if (cuda.devices.every((device) => device.memGetInfo !== undefined)) return null;
  const ordinals = ordinalsToAsk(mode, cuda, asking);
  if (ordinals.length === 0) return { answers: new Map(), missing: NOT_NEEDED };
  const { lines, missing } = await askChild(ordinals, deadlineMs);
  const answers: ChildReadings['answers'] = new Map(
    cuda.devices
      .filter((device) => mode === 'needed' && !isAsked(device, asking))
      .map(({ ordinal }) => [ordinal ?? -1, NOT_NEEDED]),
  );
  for (const line of lines) answers.set(line.ordinal, withoutOwnContext(line, cuda, asking.driver));
  return { answers, missing };
}

/**
 * The context of the process that asked lowers the free memory of a device that shares the host's memory. Its size, which
 * NVML reports, is added back, so that the measurement does not change the result.
 */
export function withoutOwnContext(
  line: ChildLine,
  { devices }: NativeCudaReport,
  driver: DriverFacts,
  where = 'in a child process',
): (MemGetInfo & { from: string }) | Failure {
  if ('failure' in line) return line.failure;
  const { ordinal, free, total, ownBytes } = line;
  if (!devices.some((device) => device.ordinal === ordinal && isIntegrated(device)))
    return { free, total, from: 'cudaMemGetInfo in a child process, which had its own context' };
  const adjustment =
    ownBytes === null
      ? 'its own context, whose size is not known, counts as used'
      : `${ownBytes} bytes of its own context (NVML) are added back`;
  return {
    free: free + (ownBytes ?? 0),
    total,
    from: `cudaMemGetInfo ${where}; ${adjustment}${left(ownBytes, driver)}`,
  };
}

/** Measured on no machine: from driver 590 on, freed GPU memory goes into the pools, and a context is GPU memory. */
function left(ownBytes: number | null, driver: DriverFacts): string {
  if (!hasPools(driver)) return '';
  const size = ownBytes === null ? 'that memory' : `those ${formatCount(ownBytes)} bytes`;
  return `; this driver keeps ${size} in its pools now, where the next CUDA program finds them`;
}

export function isIntegrated({ attributes }: NativeCudaReport['devices'][number]): boolean {
  return attributes?.integrated === 1;
}

/** False if it answers MemFree and no context may be tried. A device with only a part of the host's memory has less. */
function isAsked(device: NativeCudaReport['devices'][number], { hostTotal, mayTry }: Asking): boolean {
  const total = device.attributes?.totalGlobalMem;
  const answersMemFree = isIntegrated(device) && !hasOwnLimit(typeof total === 'number' ? total : null, hostTotal);
  return mayTry || !answersMemFree;
}
