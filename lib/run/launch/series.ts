/** Readings of a launch, thinned so that a launch of weeks keeps a few thousand. */

import type { LaunchReading } from '../../types/index.ts';

/** Readings that are kept at most; a day then has one every 10 to 20 s. */
const MOST = 8192;

export class Series {
  #readings: LaunchReading[] = [];
  /** One reading of this many is kept. */
  #stride = 1;
  #count = 0;
  #last: LaunchReading | null = null;

  add(reading: LaunchReading): void {
    this.#last = reading;
    if (this.#count++ % this.#stride !== 0) return;
    this.#readings.push(reading);
    if (this.#readings.length < MOST) return;
    this.#readings = this.#readings.filter((_, index) => index % 2 === 0);
    this.#stride *= 2;
  }

  /** Oldest first, with the last of all. */
  readings(): readonly LaunchReading[] {
    const last = this.#last;
    return last === null || this.#readings.at(-1) === last ? this.#readings : [...this.#readings, last];
  }
}
