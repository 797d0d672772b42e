/** Memory that comes back after a process has ended: the driver gives it back in its own time. */

import { Provenance } from '../../base/facts.ts';
import { MiB } from '../../base/format.ts';
import { kernelFiles, parseFact } from '../host/files.ts';
import { cpuLists } from '../host/kernel.ts';
import { readHostMemory } from '../host/meminfo-within.ts';
import { availableBytes } from '../memory/available.ts';
import { native } from '../native/binding.ts';

/** Time between two readings. */
export const POLL_MS = 50;
/** 92 GB came back within 5 s (driver 580.178.04); memory that has not moved for this long will not come back. */
const STABLE_MS = 1000;
/** Fluctuation of available memory on an idle machine. */
const NOISE = 64 * MiB;

/**
 * Available bytes of the host, by the rule of the judgement, and MemFree; null: not known.
 *
 * @throws UmaError as `readHostMemory`.
 */
export async function memoryNow(): Promise<{ available: number | null; free: number | null }> {
  const host = await readHostMemory();
  const lists = cpuLists(native());
  const [text] = await kernelFiles(native()).read([lists.file]);
  const freeInCpuLists = parseFact(lists, text, new Provenance());
  return { available: availableBytes(host, { freeInCpuLists }), free: host.free };
}

export interface Settling {
  /** Available bytes that count as all back; null: whatever no longer grows. */
  goal: number | null;
  /** Fewer are waited for until the time limit, also where nothing moves. Default: any number will do. */
  least?: number;
  limitMs: number;
  signal?: AbortSignal | undefined;
}

/**
 * Waits until as much is available as `goal`, or available memory no longer grows. `settled` false: neither before the
 * limit or the end of `signal`.
 */
export async function memorySettled({
  goal,
  least = 0,
  limitMs,
  signal,
}: Settling): Promise<{ available: number | null; settled: boolean }> {
  const started = performance.now();
  let most = Number.NEGATIVE_INFINITY;
  let grewAt = started;
  for (;;) {
    const { available } = await memoryNow();
    const now = performance.now();
    if (available === null || (goal !== null && available >= goal - NOISE)) return { available, settled: true };
    if (available > most + NOISE / 8) {
      most = available;
      grewAt = now;
    }
    if (now - grewAt >= STABLE_MS && available >= least) return { available, settled: true };
    if (now - started >= limitMs || signal?.aborted === true) return { available, settled: false };
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
