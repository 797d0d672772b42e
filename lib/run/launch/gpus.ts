/** Memory that a launch took on GPUs with memory of their own. */

import { fullestFirst, gpuText, type OwnGpu, ownGpus, TAKEN_BYTES } from '../../core/memory/own-memory.ts';
import { OwnMemoryWatch, type OwnUse, readOwnMemory } from '../../core/snapshot/own-memory.ts';
import type { LaunchGpu, LaunchReceipt, Snapshot } from '../../types/index.ts';

export class LaunchGpus {
  readonly #gpus: readonly OwnGpu[];
  readonly #problem: string | null;
  readonly #before: readonly OwnUse[] | null;
  readonly #watch: OwnMemoryWatch;
  readonly #peaks = new Map<number, number>();

  static async watch(machine: Snapshot): Promise<LaunchGpus> {
    const { gpus } = ownGpus(machine);
    return new LaunchGpus(machine, gpus.length === 0 ? [] : await readOwnMemory(gpus));
  }

  private constructor(machine: Snapshot, before: readonly OwnUse[] | null) {
    const { gpus, unread } = ownGpus(machine);
    this.#gpus = gpus;
    this.#before = before;
    const problems = unread.filter(({ visible }) => visible).map((gpu) => `${gpuText(gpu)}: ${gpu.why}`);
    if (before === null) problems.push('NVML did not answer before the start');
    this.#problem = problems.length === 0 ? null : `What a GPU's own memory held is not known. ${problems.join('; ')}.`;
    this.#watch = new OwnMemoryWatch(before === null ? [] : gpus, (uses) => this.#add(uses));
  }

  /** The program has ended. */
  stop(): Promise<void> {
    return this.#watch.stop();
  }

  /** Reads the memory in use now. */
  async receipt(): Promise<Pick<LaunchReceipt, 'gpus' | 'gpuProblem'>> {
    const after = this.#gpus.length === 0 ? [] : await readOwnMemory(this.#gpus);
    const all = (this.#before ?? []).flatMap(({ index, used: before }): LaunchGpu[] => {
      const gpu = this.#gpus.find((candidate) => candidate.index === index);
      if (gpu === undefined) return [];
      const { name, total } = gpu;
      const peak = this.#peaks.get(index) ?? null;
      const now = after?.find((use) => use.index === index)?.used ?? null;
      return [{ index, name, total, before, peak, left: peak === null ? null : total - peak, after: now }];
    });
    const taken = all.filter(({ before, peak }) => peak === null || peak - before >= TAKEN_BYTES);
    const gpus = fullestFirst(taken, ({ left, total }) => ({ left: left ?? total, total }));
    return { gpus, gpuProblem: this.#problem };
  }

  #add(uses: readonly OwnUse[]): void {
    for (const { index, used } of uses) this.#peaks.set(index, Math.max(this.#peaks.get(index) ?? 0, used));
  }
}
