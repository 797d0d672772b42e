/** The memory that the trials compete for: the host's where the GPU shares it, else that of the GPUs, by NVML. */

import { invalidValue } from '../../base/arguments.ts';
import { UmaError } from '../../base/errors.ts';
import { formatBytes } from '../../base/format.ts';
import { defaultDevice } from '../../core/memory/headroom.ts';
import {
  fullestFirst,
  gpuText,
  hasOwnMemory,
  type OwnGpu,
  ownGpus,
  TAKEN_BYTES,
} from '../../core/memory/own-memory.ts';
import { OwnMemoryWatch, type OwnUse, readOwnMemory } from '../../core/snapshot/own-memory.ts';
import { memoryNow } from '../../core/snapshot/settled.ts';
import type { ProfilePool, Snapshot } from '../../types/index.ts';

export type Pool = HostPool | GpuPool;

/** Memory in use, in bytes: MemTotal less available memory. */
export async function inUseNow(total: number): Promise<number> {
  const { available } = await memoryNow();
  return total - (available ?? 0);
}

/**
 * @param wanted the limited memory; null: the host's if a visible GPU shares it or there is none, else the GPUs'.
 * @throws TypeError where there is no such memory; UmaError `ERR_UMA_NOT_SUPPORTED` where it is not known what is in use there.
 */
export function poolOf(machine: Snapshot, wanted: ProfilePool['name'] | null): Pool {
  const visible = machine.devices.filter((device) => device.visible !== false);
  const own = visible.filter(hasOwnMemory);
  const device = defaultDevice({ devices: visible });
  const name = wanted ?? (device !== null && hasOwnMemory(device) ? 'gpu' : 'host');
  if (name === 'host') {
    const { gpus } = ownGpus({ devices: visible });
    return new HostPool(machine.host.total, gpus.length === 0 ? null : new GpuPool(gpus));
  }
  if (own.length === 0)
    throw invalidValue('limitPool (--limit gpu=…)', 'host here, because no visible GPU has memory of its own', name);
  const { gpus, unread } = ownGpus({ devices: visible });
  const [unknown] = unread;
  if (unknown !== undefined) throw notKnown(`${gpuText(unknown)}: ${unknown.why}`);
  return new GpuPool(gpus);
}

function notKnown(why: string): UmaError {
  return new UmaError('ERR_UMA_NOT_SUPPORTED', {
    source: 'umaprobe',
    call: 'profile',
    status: null,
    name: 'GPU_MEMORY_UNKNOWN',
    message: `what the GPU's own memory holds is not known (${why}), so no peak of it can be measured; limitPool "host" (--limit host=<size>) measures the host's memory`,
  });
}

class HostPool {
  readonly facts: ProfilePool;
  /** GPUs with memory of their own, which this pool does not count; null: none that can be read. */
  readonly beside: GpuPool | null;

  constructor(total: number, beside: GpuPool | null) {
    this.facts = { name: 'host', total, gpus: [] };
    this.beside = beside;
  }

  /** Memory in use, in bytes. */
  used(): Promise<number | null> {
    return inUseNow(this.facts.total);
  }
}

/** Memory that a trial took beside the host's, as a clause; null: nothing that counts. */
export function besideText(course: GpuCourse | null): string | null {
  if (course === null || course.peak - course.start < TAKEN_BYTES) return null;
  return `${formatBytes(course.peak)} of the own memory of GPU ${course.index} were in use, which the limit does not count: --limit gpu=<size> does`;
}

/** Use of one GPU during a trial, in bytes. */
export interface GpuCourse {
  index: number;
  total: number;
  start: number;
  peak: number;
  /** Oldest first. */
  used: number[];
}

export class GpuPool {
  readonly facts: ProfilePool;
  readonly #gpus: readonly OwnGpu[];
  /** The GPU that decides: that of the last trial, and before the first one what CUDA gives a program that names none. */
  #deciding: number;
  #baseline: readonly OwnUse[] | null = null;

  constructor(gpus: readonly OwnGpu[]) {
    this.#gpus = gpus;
    this.#deciding = gpus[0]?.index ?? 0;
    this.facts = {
      name: 'gpu',
      total: Math.min(...gpus.map(({ total }) => total)),
      gpus: gpus.map(({ index, name, total }) => ({ index, name, total })),
    };
  }

  /** Memory in use on the GPU that decides, in bytes; null: not known. */
  async used(): Promise<number | null> {
    const uses = await readOwnMemory(this.#gpus);
    this.#baseline ??= uses;
    return uses?.find(({ index }) => index === this.#deciding)?.used ?? null;
  }

  /** Growth of use since the first reading: the most of one GPU, in bytes. null: not known. */
  async missing(): Promise<number | null> {
    const uses = await readOwnMemory(this.#gpus);
    if (uses === null || this.#baseline === null) return null;
    const before = new Map(this.#baseline.map(({ index, used }) => [index, used]));
    return Math.max(...uses.map(({ index, used }) => used - (before.get(index) ?? used)));
  }

  /** Follows a trial from here to `end`, which returns the course of the GPU that decided; null: nothing was read. */
  async follow(): Promise<{ end(): Promise<GpuCourse | null> }> {
    const courses = new Map<number, GpuCourse>();
    for (const { index, total } of this.#gpus)
      courses.set(index, { index, total, start: Number.NaN, peak: Number.NEGATIVE_INFINITY, used: [] });
    const add = (uses: readonly OwnUse[]): void => {
      for (const { index, used } of uses) {
        const course = courses.get(index);
        if (course === undefined) continue;
        if (Number.isNaN(course.start)) course.start = used;
        course.peak = Math.max(course.peak, used);
        course.used.push(used);
      }
    };
    add((await readOwnMemory(this.#gpus)) ?? []);
    const watch = new OwnMemoryWatch(this.#gpus, add);
    return {
      end: async () => {
        await watch.stop();
        const read = [...courses.values()].filter(({ used }) => used.length > 0);
        const taken = read.filter(({ peak, start }) => peak - start >= TAKEN_BYTES);
        const [fullest] = fullestFirst(taken, ({ peak, total }) => ({ left: total - peak, total }));
        const course = fullest ?? read.find(({ index }) => index === this.#deciding) ?? null;
        if (course !== null) this.#deciding = course.index;
        return course;
      },
    };
  }
}
