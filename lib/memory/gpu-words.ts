/** Half-sentences of the judgement about GPUs: who holds their memory, what is left of it, why there is none. */

import { formatBytes } from '../base/format.ts';
import { clean } from '../render/text-layout.ts';
import type { GpuProcess, Snapshot } from '../types/index.ts';
import { ownHeadrooms, unifiedDevice } from './headroom.ts';

/** " vllm (7) holds 60.0 GiB.", of the one that holds most; '' where nobody is known to hold anything. */
export function heldBy(processes: readonly GpuProcess[]): string {
  const holder = processes.reduce(
    (most: GpuProcess | null, process) => ((process.gpuBytes ?? 0) > (most?.gpuBytes ?? 0) ? process : most),
    null,
  );
  return holder === null
    ? ''
    : ` ${clean(holder.name ?? 'Process')} (${holder.pid}) holds ${formatBytes(holder.gpuBytes)}.`;
}

/** Of the unified device, else of the fullest of those that have memory of their own. */
export function roomOnGpu(snapshot: Snapshot): string | null {
  const unified = unifiedDevice(snapshot)?.allocatable;
  const shared = unified?.afterReclaim ?? unified?.immediate ?? null;
  if (shared !== null) return `${formatBytes(shared)} can be allocated on the GPU`;
  const own = ownHeadrooms(snapshot);
  const [fullest] = own;
  if (fullest === undefined) return null;
  const which = snapshot.devices.length === 1 ? 'the GPU' : `GPU ${fullest.device.index}`;
  const others = own.length > 1 ? `, the fullest of ${own.length}` : '';
  return `${formatBytes(fullest.bytes)} can be allocated on ${which}${others}`;
}

/** The libraries' own words, with every path that was tried, stand in the document and in the lines below the picture. */
export function whyNoGpu({ libraries: { cuda, nvml } }: Snapshot): string {
  if (cuda.state === 'missing' && nvml.state === 'missing') return 'neither CUDA nor NVML is installed here';
  const words = {
    loaded: 'sees no device',
    missing: 'is not installed',
    unusable: 'cannot be used',
    timeout: 'does not answer',
  };
  return `CUDA ${words[cuda.state]}, NVML ${words[nvml.state]}`;
}
