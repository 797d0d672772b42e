/** The host as it is now, from the kernel's own files. */

import { MiB } from '../base/format.ts';
import { hostMemorySync } from '../host/meminfo.ts';
import { parseBuddyinfo, parsePressure } from '../host/procfs.ts';
import { unpinnable } from '../memory/allocatable.ts';
import { bytesInBlocks } from '../memory/headroom.ts';
import type { NativeBinding } from '../native/contract.ts';
import type { HostReading } from './context.ts';

const PRESSURE = '/proc/pressure/memory';
const BUDDYINFO = '/proc/buddyinfo';

/** PSI full avg10, percent; null: cannot be read. */
export function readPressureFull(binding: NativeBinding): number | null {
  const [text] = binding.readFiles([PRESSURE]);
  return typeof text === 'string' ? (parsePressure(text)?.full.avg10 ?? null) : null;
}

/** @param blocks whether blocks of 2 MiB matter; else their file is not read. */
export function readHost(binding: NativeBinding, blocks: boolean): HostReading {
  const pressureFull = readPressureFull(binding);
  const [buddyinfo] = blocks ? binding.readFiles([BUDDYINFO]) : [];
  // Last, because it is what the floor is held against and should be the freshest.
  const host = hostMemorySync();
  const counted = typeof buddyinfo === 'string' ? parseBuddyinfo(buddyinfo, binding.pageSize()) : null;
  return {
    memFree: host.free,
    memAvailable: host.available,
    pressureFull,
    inBlocks: counted === null ? null : Math.max(0, bytesInBlocks(counted.blocks, 2 * MiB) - unpinnable(host).now),
  };
}
