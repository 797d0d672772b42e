import type { DeviceSnapshot } from '../types/index.ts';
import type { NvmlPlace } from './counters.ts';

/** Where the child finds the device in NVML, and who is not the child. */
export function nvmlPlaceOf({ nvmlIndex, processes }: DeviceSnapshot): NvmlPlace {
  return { index: nvmlIndex, strangers: (processes ?? []).map(({ pid }) => pid) };
}
