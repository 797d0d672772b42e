/** Memory of GPUs that have their own over a session: memory in use, the least that was left, and its holders then. */

import type { RecordedGpu, RecordedGpuHolder } from '../../types/index.ts';
import { TIMES } from './process-series.ts';

export interface GpuTableOptions {
  at(bootUs: number): string;
  fromUs: number;
  toUs: number;
}

/** One GPU in one note of a recording, in bytes. */
export interface NotedGpu {
  index: number;
  name: string | null;
  total: number;
  used: number;
  /** The largest first. */
  holders: RecordedGpuHolder[];
}

interface GpuCourse {
  gpu: RecordedGpu;
  bin: number;
}

/** Notes are added oldest first. Several in one bin become one point: the note with the most in use. */
export class GpuTable {
  readonly #options: GpuTableOptions;
  readonly #span: number;
  readonly #courses = new Map<number, GpuCourse>();

  constructor(options: GpuTableOptions) {
    this.#options = options;
    this.#span = Math.max(1, options.toUs - options.fromUs);
  }

  add(bootUs: number, gpus: readonly NotedGpu[]): void {
    const { at: timeOf, fromUs } = this.#options;
    const at = timeOf(bootUs);
    const bin = Math.floor(((bootUs - fromUs) / this.#span) * TIMES);
    for (const { holders, index, name, total, used } of gpus) {
      const lowestFree = { at, bytes: total - used, holders };
      const course = this.#courses.get(index);
      if (course === undefined) {
        this.#courses.set(index, { gpu: { index, name, total, lowestFree, at: [at], used: [used] }, bin });
        continue;
      }
      const { gpu } = course;
      if (lowestFree.bytes < gpu.lowestFree.bytes) gpu.lowestFree = lowestFree;
      if (bin !== course.bin) {
        course.bin = bin;
        gpu.at.push(at);
        gpu.used.push(used);
      } else {
        const last = gpu.used.length - 1;
        gpu.used[last] = Math.max(gpu.used[last] ?? 0, used);
      }
    }
  }

  list(): RecordedGpu[] {
    return [...this.#courses.values()].map(({ gpu }) => gpu).sort((a, b) => a.index - b.index);
  }
}
