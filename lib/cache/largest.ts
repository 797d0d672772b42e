/** Items between two sorts. Sorting 4,096 new items into 100,000 sorted ones takes 2 to 5 ms; the event loop waits no longer. */
const UNSORTED = 4096;

/** The N largest of many, without keeping all of them: a tree has 100,000 files, and 20 are shown. */
export class LargestN<T> {
  /** The most that is kept. */
  readonly size: number;
  readonly #of: (item: T) => number;
  /** Sorted, largest first, but for what was added since the last sort: Array.sort takes a sorted run as it is. */
  #kept: T[] = [];

  constructor(size: number, of: (item: T) => number) {
    this.size = size;
    this.#of = of;
  }

  add(item: T): void {
    const length = this.#kept.push(item);
    if (length >= this.size + UNSORTED || length % UNSORTED === 0) this.#cut();
  }

  /** Largest first, once; nothing is left here. */
  take(): T[] {
    this.#cut();
    return this.#kept.splice(0);
  }

  #cut(): void {
    this.#kept.sort((a, b) => this.#of(b) - this.#of(a));
    this.#kept.length = Math.min(this.#kept.length, this.size);
  }
}
