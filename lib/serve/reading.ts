/** Readings of this machine: a caller while one is being taken gets that one. */

import { snapshot } from '../core/snapshot/index.ts';
import type { Snapshot } from '../types/index.ts';

export class SharedReading {
  readonly #deadlineMs: number;
  #running: Promise<Snapshot> | null = null;
  #hasOne = false;

  /** @param deadlineMs for each library and each file of the kernel. */
  constructor(deadlineMs: number) {
    this.#deadlineMs = deadlineMs;
  }

  /** True if a reading has been taken. */
  get hasOne(): boolean {
    return this.#hasOne;
  }

  /** No CUDA context is created: each would take memory of the machine. */
  take(): Promise<Snapshot> {
    this.#running ??= snapshot({ deadlineMs: this.#deadlineMs, hiddenDevices: true })
      .then((reading) => {
        this.#hasOne = true;
        return reading;
      })
      .finally(() => {
        this.#running = null;
      });
    return this.#running;
  }
}
