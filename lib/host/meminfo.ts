/** The memory of the machine: the counters of /proc/meminfo, parsed by the binary into an array. */

import { toUmaError } from '../base/errors.ts';
import { native } from '../native/binding.ts';
import type { NativeBinding } from '../native/contract.ts';
import type { HostMemory } from '../types/index.ts';

export const MEMINFO = '/proc/meminfo';

/**
 * Slots of the array that the binary fills, in its order. The binary has its own list; the first reading compares the
 * two, because a binary of another version could otherwise put a number under a wrong name.
 */
export const HOST_MEMORY_FIELDS = [
  'total',
  'free',
  'available',
  'buffers',
  'cached',
  'swapCached',
  'shmem',
  'anonPages',
  'anonHugePages',
  'mapped',
  'mlocked',
  'unevictable',
  'dirty',
  'writeback',
  'activeFile',
  'inactiveFile',
  'kReclaimable',
  'sReclaimable',
  'sUnreclaim',
  'kernelStack',
  'pageTables',
  'secPageTables',
  'percpu',
  'vmallocUsed',
  'committedAs',
  'hardwareCorrupted',
  'zswap',
  'swapTotal',
  'swapFree',
  'hugePagesTotal',
  'hugePagesFree',
  'hugePageSize',
  'hugetlb',
  'cmaTotal',
  'cmaFree',
] as const satisfies readonly (keyof HostMemory)[];

const slots = new Float64Array(HOST_MEMORY_FIELDS.length);
/** The binary whose list was compared. */
let checked: NativeBinding | undefined;

/** @throws Error if the binary's list is another one. */
export function checkOrder(binding: NativeBinding): void {
  if (checked === binding) return;
  const nativeFields = binding.hostMemoryFields();
  const slot = HOST_MEMORY_FIELDS.findIndex((field, index) => nativeFields[index] !== field);
  if (slot !== -1 || nativeFields.length !== HOST_MEMORY_FIELDS.length) {
    throw new Error(
      `umaprobe: the native binary is of another version (memory field ${slot}: ${nativeFields[slot] ?? 'none'}, expected ` +
        `${HOST_MEMORY_FIELDS[slot] ?? 'none'}). Install umaprobe again; in a source tree: npm run build`,
    );
  }
  checked = binding;
}

/** The binary returns NaN for a line that this kernel does not have. */
function known(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}

/**
 * The slots as an object. Written out, because a loop over the names takes ten times as long, and callers use tight
 * loops.
 */
export function hostMemoryOf(v: Float64Array): HostMemory {
  const at = (slot: number): number | null => known(v[slot] as number);
  return {
    total: v[0] as number,
    free: at(1),
    available: at(2),
    buffers: at(3),
    cached: at(4),
    swapCached: at(5),
    shmem: at(6),
    anonPages: at(7),
    anonHugePages: at(8),
    mapped: at(9),
    mlocked: at(10),
    unevictable: at(11),
    dirty: at(12),
    writeback: at(13),
    activeFile: at(14),
    inactiveFile: at(15),
    kReclaimable: at(16),
    sReclaimable: at(17),
    sUnreclaim: at(18),
    kernelStack: at(19),
    pageTables: at(20),
    secPageTables: at(21),
    percpu: at(22),
    vmallocUsed: at(23),
    committedAs: at(24),
    hardwareCorrupted: at(25),
    zswap: at(26),
    swapTotal: at(27),
    swapFree: at(28),
    hugePagesTotal: at(29),
    hugePagesFree: at(30),
    hugePageSize: at(31),
    hugetlb: at(32),
    cmaTotal: at(33),
    cmaFree: at(34),
  };
}

/**
 * Reads the memory counters of the machine on the calling thread: one read of `/proc/meminfo`, fast enough for tight
 * loops.
 *
 * A call on the calling thread cannot have a time limit. Where `/proc/meminfo` is served by FUSE (lxcfs in a container)
 * and does not answer, this call does not return, and JavaScript stands still; after a `snapshot()` that has met the
 * hung file it fails at once, until the file answers. `snapshot()` has a limit.
 *
 * @returns bytes, except the two huge page counts, which are pages; `null` for a line that this kernel does not have.
 * @throws UmaError `ERR_UMA_CALL_FAILED` when /proc/meminfo cannot be read or has no MemTotal; `ERR_UMA_TIMEOUT` when an
 *   earlier reading of it has not returned.
 */
export function hostMemorySync(): HostMemory {
  const binding = native();
  checkOrder(binding);
  const failure = binding.hostMemory(slots);
  if (failure !== null) throw toUmaError(failure);
  return hostMemoryOf(slots);
}

/**
 * The counters in a text of /proc/meminfo.
 *
 * @throws UmaError `ERR_UMA_CALL_FAILED` when it has no MemTotal.
 */
export function parseHostMemory(binding: NativeBinding, text: string): HostMemory {
  checkOrder(binding);
  const failure = binding.parseMeminfo(text, slots);
  if (failure !== null) throw toUmaError(failure);
  return hostMemoryOf(slots);
}
