/** The lists of the largest processes of a session as one table over time: what each of them held, on the host and the GPU. */

import type { ProcessSeries, RecordedProcess } from '../../types/index.ts';

/** Processes of each list of a recording, and of the table that is made of them. */
export const LISTED = 12;
/** Processes of which values are kept until the end is known. */
const KEPT = 100;
/** Most times of the table. */
export const TIMES = 500;

export interface ProcessSeriesOptions {
  at(bootUs: number): string;
  fromUs: number;
  toUs: number;
}

interface ProcessCourse {
  pid: number;
  name: string | null;
  highestHeld: number;
  highestGpu: number | null;
  /** Memory by the index of its time. */
  held: Map<number, number>;
  gpu: Map<number, number>;
}

/** Lists are added oldest first. Several lists in one bin become one: the highest value of each process. */
export class ProcessTable {
  readonly #options: ProcessSeriesOptions;
  readonly #span: number;
  readonly #times: string[] = [];
  #courses = new Map<string, ProcessCourse>();
  #bin = -1;

  constructor(options: ProcessSeriesOptions) {
    this.#options = options;
    this.#span = Math.max(1, options.toUs - options.fromUs);
  }

  add(bootUs: number, processes: readonly RecordedProcess[]): void {
    const { at, fromUs } = this.#options;
    const bin = Math.floor(((bootUs - fromUs) / this.#span) * TIMES);
    if (bin !== this.#bin) this.#times.push(at(bootUs));
    this.#bin = bin;
    const place = this.#times.length - 1;
    for (const process of processes) keepHighest(this.#courseOf(process), place, process);
    if (this.#courses.size > 2 * KEPT) this.#courses = new Map(this.#largest(KEPT));
  }

  list(): ProcessSeries {
    const values = (of: Map<number, number>) => this.#times.map((_, place) => of.get(place) ?? null);
    return {
      at: this.#times,
      processes: this.#largest(LISTED).map(([, { gpu, held, highestGpu, highestHeld, name, pid }]) => ({
        pid,
        name,
        highestHeld,
        highestGpuBytes: highestGpu,
        held: values(held),
        gpuBytes: values(gpu),
      })),
    };
  }

  #courseOf({ name, pid }: RecordedProcess): ProcessCourse {
    // A number is used again by another program.
    const key = `${pid} ${name}`;
    const known = this.#courses.get(key);
    if (known !== undefined) return known;
    const course: ProcessCourse = { pid, name, highestHeld: 0, highestGpu: null, held: new Map(), gpu: new Map() };
    this.#courses.set(key, course);
    return course;
  }

  #largest(count: number): [string, ProcessCourse][] {
    const size = ({ highestGpu, highestHeld }: ProcessCourse) => Math.max(highestHeld, highestGpu ?? 0);
    return [...this.#courses].sort(([, a], [, b]) => size(b) - size(a)).slice(0, count);
  }
}

function keepHighest(course: ProcessCourse, place: number, { gpuBytes, held }: RecordedProcess): void {
  course.held.set(place, Math.max(course.held.get(place) ?? 0, held));
  course.highestHeld = Math.max(course.highestHeld, held);
  if (gpuBytes === null) return;
  course.gpu.set(place, Math.max(course.gpu.get(place) ?? 0, gpuBytes));
  course.highestGpu = Math.max(course.highestGpu ?? 0, gpuBytes);
}
