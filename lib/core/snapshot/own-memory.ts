/** Memory in use on GPUs with memory of their own, by NVML. */

import { setTimeout as sleep } from 'node:timers/promises';
import { isFailure } from '../../base/facts.ts';
import type { OwnGpu } from '../memory/own-memory.ts';
import { native } from '../native/binding.ts';

const DEADLINE_MS = 2000;
/** Time between two readings. NVML answers within 1 ms (H200, 580.159). */
const INTERVAL_MS = 20;

/** One GPU at one time. */
export interface OwnUse {
  /** Index in the snapshot. */
  index: number;
  /** Bytes in use. */
  used: number;
  /** Processes that hold it; null: NVML does not say. */
  holders: { pid: number; gpuBytes: number | null }[] | null;
}

/** One reading of all of `gpus`; null: NVML did not answer for each of them. */
export async function readOwnMemory(gpus: readonly OwnGpu[]): Promise<OwnUse[] | null> {
  const { devices, timedOut } = await native().readNvml(DEADLINE_MS);
  const uses = gpus.flatMap(({ index, nvmlIndex }) => {
    const device = devices.find((candidate) => candidate.index === nvmlIndex);
    const { memory, processes } = device ?? {};
    if (memory === undefined || isFailure(memory) || memory.total === 0) return [];
    return [{ index, used: memory.used, holders: processes === undefined || isFailure(processes) ? null : processes }];
  });
  return timedOut !== null || uses.length < gpus.length ? null : uses;
}

/** Reads as fast as `INTERVAL_MS` until `stop`. */
export class OwnMemoryWatch {
  readonly #gpus: readonly OwnGpu[];
  readonly #onReading: (uses: readonly OwnUse[]) => void;
  readonly #running: Promise<void>;
  #isOver = false;

  /** @param gpus none: nothing is read. */
  constructor(gpus: readonly OwnGpu[], onReading: (uses: readonly OwnUse[]) => void) {
    this.#gpus = gpus;
    this.#onReading = onReading;
    this.#running = gpus.length === 0 ? Promise.resolve() : this.#read();
  }

  stop(): Promise<void> {
    this.#isOver = true;
    return this.#running;
  }

  async #read(): Promise<void> {
    while (!this.#isOver) {
      const uses = await readOwnMemory(this.#gpus);
      if (uses !== null && !this.#isOver) this.#onReading(uses);
      await sleep(INTERVAL_MS);
    }
  }
}
