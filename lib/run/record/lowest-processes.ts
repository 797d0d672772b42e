/** Processes that held memory when the least was available: lists of processes are made more seldom than readings. */

import type { RecordedProcesses } from '../../types/index.ts';

/** Lists and lowest points are added in the order of time. */
export class LowestProcesses {
  #last: RecordedProcesses | null = null;
  #before: RecordedProcesses | null = null;
  #after: RecordedProcesses | null = null;

  /** The next list. */
  add(list: RecordedProcesses): void {
    this.#last = list;
    this.#after ??= list;
  }

  /** Notes that less is available than ever before. */
  atLowest(): void {
    this.#before = this.#last;
    this.#after = null;
  }

  /** The list with more memory, before or after the lowest point: a program may have begun, or ended, in between. */
  get list(): RecordedProcesses | null {
    const [before, after] = [this.#before, this.#after];
    if (before === null || after === null) return before ?? after;
    return heldIn(after) > heldIn(before) ? after : before;
  }
}

function heldIn({ processes }: RecordedProcesses): number {
  return processes.reduce((sum, { gpuBytes, held }) => sum + held + (gpuBytes ?? 0), 0);
}
