/** The memory of the machine: the counters of /proc/meminfo, parsed by the binary into an array. */

import { toUmaError } from '../../base/errors.ts';
import type { HostMemory } from '../../types/index.ts';
import { MEMINFO_KEYS } from '../../types/meminfo.ts';
import { native } from '../native/binding.ts';
import type { NativeBinding } from '../native/contract.ts';

/**
 * Slots of the array that the binary fills, in its order. The binary has its own list; the first reading compares the
 * two, because a binary of another version could otherwise put a number under a wrong name.
 */
export const HOST_MEMORY_FIELDS = Object.keys(MEMINFO_KEYS) as readonly (keyof HostMemory)[];

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

/** The slots as an object. The binary returns NaN for a line that this kernel does not have. */
export function hostMemoryOf(values: Float64Array): HostMemory {
  // A copy of an object that has every field is filled in a fraction of the time that adding the fields takes.
  const host: Record<keyof HostMemory, number | null> = { ...NOTHING };
  HOST_MEMORY_FIELDS.forEach((field, slot) => {
    const value = values[slot] as number;
    if (!Number.isNaN(value)) host[field] = value;
  });
  return host as HostMemory;
}

const NOTHING = Object.fromEntries(HOST_MEMORY_FIELDS.map((field) => [field, null])) as Record<keyof HostMemory, null>;

/**
 * Reads the memory counters of the machine on the calling thread: one read of `/proc/meminfo`, fast enough for tight
 * loops.
 *
 * A call on the calling thread cannot have a time limit. If `/proc/meminfo` is served by FUSE (lxcfs in a container)
 * and does not answer, this call does not return, and JavaScript stands still; after a `snapshot()` that has met the
 * hung file it fails at once, until the file answers. `snapshot()` has a limit.
 *
 * @example
 * ```ts
 * import { hostMemorySync } from 'umaprobe';
 *
 * const { available, total } = hostMemorySync();
 * console.log(available, total);
 * ```
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
