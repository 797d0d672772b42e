/**
 * Facts that NVML's list of processes proves. It may lack processes (outside of this PID namespace), the bytes of some
 * (MIG, permissions), and its sum may exceed the memory: memory shared by CUDA IPC is counted in each process.
 */

import { formatBoth } from '../../base/format.ts';
import type { DeviceSnapshot, GpuProcess, LedgerEntry } from '../../types/index.ts';

export interface ProcessList {
  /** null: which processes hold memory is not known here. */
  processes: GpuProcess[] | null;
  /** True if every process that holds memory is listed with its bytes; null: there is no list. */
  complete: boolean | null;
  /** Proof that it is complete, or what is missing. */
  from: string;
}

const OTHER_NAMESPACES =
  'this process is in a PID namespace of its own (a container), and NVML does not list processes outside of it';

/**
 * Reads what a list of NVML says about this device.
 *
 * @param firstPidNamespace whether this process is in the first PID namespace. An empty list means nothing in a
 *   container: it lacks processes of the host and of other containers (MiaAI-Lab/sparkDash needs `pid: host`).
 */
export function readProcessList(listed: GpuProcess[], firstPidNamespace: boolean): ProcessList {
  if (!firstPidNamespace) {
    return listed.length === 0
      ? { processes: null, complete: null, from: OTHER_NAMESPACES }
      : { processes: listed, complete: false, from: OTHER_NAMESPACES };
  }
  const unknown = listed.filter(({ gpuBytes }) => gpuBytes === null).length;
  if (unknown === 0) return { processes: listed, complete: true, from: 'NVML lists every process with its memory' };
  const which = unknown === listed.length ? 'the processes' : `${unknown} of the ${listed.length} processes`;
  return { processes: listed, complete: false, from: `NVML does not report how much memory ${which} hold` };
}

/** GPU memory of processes inside MemTotal, as NVML lists it. */
export interface ListedGpuMemory {
  bytes: number;
  /** The reason why more than these bytes may be held; null: the lists are complete. */
  incomplete: string | null;
}

/** The sum over devices that share the host's memory. null: no such device, or no bytes are known. */
export function sharedGpuMemory(
  devices: readonly Pick<DeviceSnapshot, 'memoryModel' | 'processes' | 'processesComplete' | 'from'>[],
): ListedGpuMemory | null {
  const shared = devices.filter(({ memoryModel }) => memoryModel === 'unified');
  const listed = shared.flatMap(({ processes }) => processes ?? []);
  const known = listed.map(({ gpuBytes }) => gpuBytes).filter((bytes) => bytes !== null);
  const partial = shared.find(({ processesComplete }) => processesComplete !== true);
  if (shared.length === 0 || (partial !== undefined && known.length === 0)) return null;
  return {
    bytes: known.reduce((sum, bytes) => sum + bytes, 0),
    incomplete: partial === undefined ? null : whyIncomplete(partial),
  };
}

/** Returns why the list of a device is missing or not complete. */
export function whyIncomplete({ from }: Pick<DeviceSnapshot, 'from'>): string {
  return from.processesComplete ?? from.processes ?? 'NVML gives no reason';
}

/**
 * The ledger's row of these processes.
 *
 * @param rest MemTotal less every other row, in bytes: GPU memory of processes cannot be more.
 */
export function gpuProcessesEntry({ bytes, incomplete }: ListedGpuMemory, rest: number): LedgerEntry {
  const label = 'gpuProcesses';
  const most = Math.max(0, rest);
  const sum = 'sum of NVML processes on devices that share this memory';
  if (bytes > most) {
    return {
      label,
      bytes: most,
      bound: 'atMost',
      from: `NVML’s processes add up to ${formatBoth(bytes)}, but only ${formatBoth(most)} are in no other row: memory that processes share (CUDA IPC) is counted in each of them`,
    };
  }
  if (incomplete !== null) return { label, bytes, bound: 'atLeast', from: `${sum}, a part of them: ${incomplete}` };
  return { label, bytes, from: sum };
}

/** The same in a sentence about the machine: a library's own message is in the document. */
export function plainReason(reason: string): string {
  return reason.includes('ERR_UMA_') ? 'NVML could not list them' : reason;
}

/**
 * Bytes that the listed processes hold; null: no bytes are known.
 *
 * @param most that they can hold together, in bytes.
 */
export function heldBytes(
  { processes: list, processesComplete }: Pick<DeviceSnapshot, 'processes' | 'processesComplete'>,
  most: number,
): number | null {
  const known = (list ?? []).map(({ gpuBytes }) => gpuBytes).filter((bytes) => bytes !== null);
  return known.length === 0 && processesComplete !== true ? null : heldTogether(list ?? [], most);
}

/**
 * Bytes that processes hold together: their sum, but at most `most`, because memory that they share (CUDA IPC) is
 * counted in each of them; and never less than one of them holds.
 */
export function heldTogether(list: readonly Pick<GpuProcess, 'gpuBytes'>[], most: number): number {
  const bytes = list.map(({ gpuBytes }) => gpuBytes ?? 0);
  const sum = bytes.reduce((total, one) => total + one, 0);
  return Math.min(sum, Math.max(most, ...bytes));
}
