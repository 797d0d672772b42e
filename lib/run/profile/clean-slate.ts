/** Checks that the machine is as it was: memory that came back, and GPU programs of others, which are never stopped. */

import { setTimeout as sleep } from 'node:timers/promises';
import { formatBoth, formatDuration, MiB } from '../../base/format.ts';
import { defined } from '../../base/objects.ts';
import { snapshot } from '../../core/snapshot/index.ts';
import { memorySettled } from '../../core/snapshot/settled.ts';
import type { ProfileReport, Snapshot } from '../../types/index.ts';
import { GpuPool, type Pool } from './pool.ts';

const OTHERS_POLL_MS = 1000;
const GPU_POLL_MS = 100;

/**
 * Memory that may stay in use after a trial: memory in the driver's pools, and memory that other programs took
 * meanwhile. 2 % of a GB10 are 2.4 GiB.
 */
function tolerance(total: number): number {
  return Math.max(512 * MiB, total * 0.02);
}

/**
 * Waits until no more is in use than before the first trial, or a little more that no longer falls: a driver gives memory
 * back over seconds, and a trial that starts meanwhile would be measured too small.
 *
 * @returns null: the memory is back; else a sentence.
 */
export async function memoryBack(
  baselineBytes: number,
  total: number,
  { signal, waitMs }: { waitMs: number; signal: AbortSignal | undefined },
): Promise<string | null> {
  const goal = total - baselineBytes;
  const { available, settled } = await memorySettled({ goal, least: goal - tolerance(total), limitMs: waitMs, signal });
  if (settled || signal?.aborted === true) return null;
  return (
    `${formatBoth(goal - (available ?? 0))} did not come back within ${formatDuration(waitMs)}, and the peaks of further trials would ` +
    'not be comparable: see umaprobe processes, and go on with resume (--resume)'
  );
}

/** The same of GPUs' own memory, which is given back as the process ends. */
export async function poolBack(
  pool: Pool,
  { signal, waitMs }: { waitMs: number; signal: AbortSignal | undefined },
): Promise<string | null> {
  if (!(pool instanceof GpuPool)) return null;
  const until = performance.now() + waitMs;
  for (;;) {
    const missing = (await pool.missing()) ?? 0;
    if (missing <= tolerance(pool.facts.total) || signal?.aborted === true) return null;
    if (performance.now() >= until)
      return `${formatBoth(missing)} of GPU memory did not come back within ${formatDuration(waitMs)}: see umaprobe processes`;
    await sleep(GPU_POLL_MS);
  }
}

/** A reading without GPU programs of others, or the one at the end of the time; these are in its `others`. */
export async function cleanReading(
  waitMs: number,
  signal: AbortSignal | undefined,
): Promise<{ reading: Snapshot; others: ProfileReport['others'] }> {
  const until = performance.now() + waitMs;
  for (;;) {
    const reading = await snapshot({ memGetInfo: 'never', ...defined({ signal }) });
    const others = othersIn(reading);
    if (others.length === 0 || performance.now() >= until) return { reading, others };
    await sleep(OTHERS_POLL_MS, undefined, { signal });
  }
}

function othersIn({ devices }: Snapshot): ProfileReport['others'] {
  const found = new Map<number, ProfileReport['others'][number]>();
  for (const { gpuBytes, name, pid } of devices.flatMap(({ processes }) => processes ?? []))
    if (pid !== process.pid) found.set(pid, { pid, name: name ?? null, gpuBytes });
  return [...found.values()];
}
