/** The other users of a GPU: the memory that they hold, and the share of its memory that a probe leaves to them. */

import { clean, formatBoth, formatBytes, GiB, MiB } from '../../base/format.ts';
import type {
  DeviceSnapshot,
  GpuProcess,
  MemoryModel,
  OtherUsers,
  ProbeHeader,
  StressReport,
} from '../../types/index.ts';
import type { Floor } from './floor.ts';
import { heldTogether, whyIncomplete } from './gpu-processes.ts';

/** A driver holds less of an idle GPU. Less than this is not reported if no process is listed. */
const HELD_BY_SOMEONE = 256 * MiB;

/**
 * Lower bound of the default share: a second context (527 MiB on an H200) and the workspaces of its libraries.
 */
const SHARE = GiB;

/** Share of what the others hold: vLLM leaves 10 % of a GPU for peaks by default (gpu_memory_utilization 0.9). */
const SHARE_OF_HELD = 0.1;

/** The smallest share, in bytes, for callers who do not accept that the other users run out of memory. */
export const MIN_SHARE = 256 * MiB;

/** The default as a help text says it. */
export const DEFAULT_SHARE_TEXT = `if there are any, the larger of ${SHARE / GiB} GiB and ${Math.round(SHARE_OF_HELD * 100)} % of what they hold`;

/**
 * Other processes that hold memory of a device; null: none.
 *
 * @param ownPid the calling process, which is not an other user.
 * @param most of the shared pool that processes can hold together, in bytes.
 */
export function otherUsers(
  device: Pick<DeviceSnapshot, 'memoryModel' | 'migMode' | 'nvml' | 'processes' | 'processesComplete' | 'from'>,
  ownPid: number,
  most = Number.POSITIVE_INFINITY,
): OtherUsers | null {
  const processes = (device.processes ?? [])
    .filter(({ gpuBytes, pid }) => pid !== ownPid && gpuBytes !== 0)
    .sort((a, b) => (b.gpuBytes ?? 0) - (a.gpuBytes ?? 0));
  const listed = processes.reduce((sum, { gpuBytes }) => sum + (gpuBytes ?? 0), 0);
  // NVML's numbers are of the whole GPU in MIG mode, and no device's own where memory is shared with the host.
  const hasOwn = device.memoryModel !== 'unified' && device.migMode?.current !== true;
  const used = hasOwn ? (device.nvml?.used ?? null) : null;
  if (device.processesComplete === true) {
    if (processes.length === 0) return null;
    const bytes = heldTogether(processes, used ?? most);
    const limit = used === null ? 'memory in no other counter' : 'used memory of the device by NVML';
    return { processes, bytes, from: bytes < listed ? limit : 'sum of NVML processes' };
  }
  if (used !== null && processes.length === 0 && used < HELD_BY_SOMEONE) return null;
  if (used !== null) return { processes, bytes: Math.max(listed, used), from: 'used memory of the device by NVML' };
  return { processes, bytes: null, from: whyIncomplete(device) };
}

/**
 * Bytes that stay free on the device for its other users, and the rule that gave this amount. null: nobody else uses it,
 * and none were requested.
 *
 * @param requested checked by the command's options; null: the default.
 */
export function shareFor(requested: number | null, others: OtherUsers | null): StressReport['share'] {
  if (requested !== null) return { bytes: requested, from: 'as requested' };
  if (others === null) return null;
  const { bytes } = others;
  const held = bytes === null ? 'an unknown amount' : formatBoth(bytes);
  return {
    bytes: Math.max(SHARE, Math.ceil((bytes ?? 0) * SHARE_OF_HELD)),
    from: `the larger of ${formatBytes(SHARE)} and ${Math.round(SHARE_OF_HELD * 100)} % of what they hold, ${held}`,
  };
}

/** The floor of unified memory is left to the other users, too: the larger of the two binds. */
export function floorWithShare(floor: Floor, share: StressReport['share']): Floor {
  if (share === null || share.bytes <= floor.bytes) return floor;
  return { bytes: share.bytes, from: `the share of the GPU’s other users: ${share.from}` };
}

/** Processes that a sentence names. */
export const NAMED = 4;

/** "VLLM::EngineCor (4200017) holds 70.0 GiB, Xorg (4195001) 42.0 MiB and 3 more"; '' without a name. */
export function usersText({ processes }: OtherUsers): string {
  const named = processes.slice(0, NAMED).map(({ gpuBytes, name, pid }: GpuProcess, index) => {
    const amount = gpuBytes === null ? 'an unknown amount' : formatBytes(gpuBytes);
    return `${clean(name ?? 'process')} (${pid}) ${index === 0 ? 'holds ' : ''}${amount}`;
  });
  const more = processes.length - named.length;
  return named.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** The sentence before the first step; null: nobody else is known to use the GPU. */
export function othersSentence(
  others: OtherUsers | null,
  { floor, share, model }: { floor: ProbeHeader['floor']; share: StressReport['share']; model: MemoryModel },
): string | null {
  if (others === null) return null;
  const who =
    others.processes.length > 0
      ? `Others use this GPU: ${usersText(others)}.`
      : others.bytes === null
        ? `Who else uses this GPU is not known here: ${others.from}.`
        : `Others use this GPU: they hold ${formatBytes(others.bytes)}, and who they are is not known here.`;
  return `${who} ${leftText(floor, share, model)}`;
}

function leftText(floor: ProbeHeader['floor'], share: StressReport['share'], model: MemoryModel): string {
  if (model === 'unified' && floor !== null) return `${formatBytes(floor.bytes)} stay available for them and the host.`;
  if (share === null) return 'A size that fits beside them takes, for a moment, what they may need next.';
  return share.bytes === 0 ? 'Nothing stays free for them.' : `${formatBytes(share.bytes)} stay free for them.`;
}
