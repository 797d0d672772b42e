/** A bar for each GPU that has memory of its own; the pool above is then the host's alone. */
import type { DeviceSnapshot, Snapshot } from '../../types/index.ts';
import { amount, type Look, meter } from '../options.ts';
import { padEnd } from '../text-layout.ts';

export function ownMemory(snapshot: Snapshot, look: Look): string[] {
  return snapshot.devices.flatMap((device) => {
    const memory = used(device);
    if (memory === null) return [];
    const words = `${amount(memory.used, look)} of ${amount(memory.total, look)} used`;
    const label = padEnd(`GPU ${device.index} memory`, 14);
    const cells = Math.max(10, look.width - label.length - words.length - 4);
    return [`${label}${meter(memory.used, memory.total, cells, 'gpu', look)}  ${words}`];
  });
}

function used({ memoryModel, nvml, cuda }: DeviceSnapshot): { used: number; total: number } | null {
  if (memoryModel === 'unified') return null;
  if (nvml !== null) return { used: nvml.total - nvml.free, total: nvml.total };
  return cuda === null ? null : { used: cuda.total - cuda.free, total: cuda.total };
}
