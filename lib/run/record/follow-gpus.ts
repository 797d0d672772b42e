/** Notes the memory in use on GPUs with memory of their own. */

import { setTimeout as sleep } from 'node:timers/promises';
import { kernelFiles } from '../../core/host/files.ts';
import { processNames } from '../../core/host/process.ts';
import type { OwnGpu } from '../../core/memory/own-memory.ts';
import { native } from '../../core/native/binding.ts';
import { type OwnUse, readOwnMemory } from '../../core/snapshot/own-memory.ts';
import type { NotedGpu } from './gpu-series.ts';

/** Time between two readings: as a frame of the host's memory by default. */
const INTERVAL_MS = 100;
/** A reading without a change is noted this often. */
const SAME_MS = 5000;
/** Processes of one GPU in a note. */
const HOLDERS = 4;

/** @param note called with what changed. */
export async function followGpus(
  gpus: readonly OwnGpu[],
  note: (note: { type: 'gpus'; gpus: NotedGpu[] }) => void,
  signal: AbortSignal,
): Promise<void> {
  let last = '';
  let notedAt = Number.NEGATIVE_INFINITY;
  while (gpus.length > 0 && !signal.aborted) {
    const uses = (await readOwnMemory(gpus)) ?? [];
    const text = JSON.stringify(uses);
    const isDue = text !== last || performance.now() - notedAt >= SAME_MS;
    if (uses.length > 0 && isDue) {
      const noted = await notedOf(uses, gpus);
      if (!signal.aborted) note({ type: 'gpus', gpus: noted });
      last = text;
      notedAt = performance.now();
    }
    await sleep(INTERVAL_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

async function notedOf(uses: readonly OwnUse[], gpus: readonly OwnGpu[]): Promise<NotedGpu[]> {
  const holdersOf = ({ holders }: OwnUse): { pid: number; gpuBytes: number | null }[] =>
    (holders ?? []).toSorted((a, b) => (b.gpuBytes ?? 0) - (a.gpuBytes ?? 0)).slice(0, HOLDERS);
  const pids = uses.flatMap((use) => holdersOf(use).map(({ pid }) => pid));
  const names = await processNames(kernelFiles(native()), [...new Set(pids)]);
  return uses.flatMap((use) => {
    const gpu = gpus.find(({ index }) => index === use.index);
    if (gpu === undefined) return [];
    const holders = holdersOf(use).map(({ gpuBytes, pid }) => ({ pid, name: names.get(pid) ?? null, gpuBytes }));
    return [{ index: gpu.index, name: gpu.name, total: gpu.total, used: use.used, holders }];
  });
}
