/** GPUs with memory of their own, and which of several decides. Pure. */

import { MiB } from '../../base/format.ts';
import type { DeviceSnapshot, Reading } from '../../types/index.ts';

/** A program that uses a GPU takes more: an empty CUDA context is 250 to 550 MiB. Other use moves by less. */
export const TAKEN_BYTES = 64 * MiB;

/** Memory of a GPU that programs can use, as NVML reports it. */
export interface OwnGpu {
  /** Index in the snapshot. */
  index: number;
  nvmlIndex: number;
  name: string | null;
  /** True if programs started here find it. */
  visible: boolean;
  /** Bytes without the driver's reserve. */
  total: number;
}

/** A GPU whose memory in use is not known. */
export interface UnreadGpu {
  index: number;
  name: string | null;
  visible: boolean;
  /** The reason, as a clause. */
  why: string;
}

export function hasOwnMemory({ memoryModel }: Pick<DeviceSnapshot, 'memoryModel'>): boolean {
  return memoryModel === 'discrete' || memoryModel === 'coherent';
}

/** GPUs with memory of their own: those whose use NVML reports, and those of which it is not known. */
export function ownGpus({ devices }: Pick<Reading, 'devices'>): { gpus: OwnGpu[]; unread: UnreadGpu[] } {
  const gpus: OwnGpu[] = [];
  const unread: UnreadGpu[] = [];
  for (const device of devices.filter(hasOwnMemory)) {
    const { index, migMode, name, nvml, nvmlIndex } = device;
    const visible = device.visible !== false;
    if (migMode?.current === true)
      unread.push({ index, name, visible, why: 'it is in MIG mode, and NVML is asked about the whole GPU only' });
    else if (nvml === null || nvmlIndex === null)
      unread.push({ index, name, visible, why: device.from.nvml ?? 'NVML does not report its memory' });
    else gpus.push({ index, nvmlIndex, name, visible, total: nvml.total - (nvml.reserved ?? 0) });
  }
  return { gpus, unread };
}

/** The rule of several GPUs: the GPU with the smallest share of its memory left decides. The fullest first. */
export function fullestFirst<Gpu>(
  gpus: readonly Gpu[],
  memoryOf: (gpu: Gpu) => { left: number; total: number },
): Gpu[] {
  const share = (gpu: Gpu): number => {
    const { left, total } = memoryOf(gpu);
    return left / total;
  };
  return gpus.toSorted((a, b) => share(a) - share(b));
}

/** "GPU 0, NVIDIA H200". */
export function gpuText({ index, name }: Pick<OwnGpu, 'index' | 'name'>): string {
  return name === null ? `GPU ${index}` : `GPU ${index}, ${name}`;
}

/** Sentence about what the guard leaves out on these GPUs; null: there are none. */
export function unguardedText(gpus: readonly Pick<OwnGpu, 'index' | 'name'>[]): string | null {
  if (gpus.length === 0) return null;
  const names = gpus.map(gpuText).join('; ');
  return `The GPU's own memory is not guarded (${names}): where it runs out CUDA returns out of memory, and the machine does not freeze.`;
}
