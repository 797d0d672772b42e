/** The N largest of many items, without keeping all of them: a tree has 100,000 files, and 20 are shown. */

/** Batch size: sorting 4,096 new items into 100,000 sorted ones takes 2 to 5 ms. */
const UNSORTED = 4096;

export class LargestN<T> {
  /** N. */
  readonly size: number;
  readonly #rankOf: (item: T) => number;
  /** Largest first, except for the items since the last sort. Array.sort is fast here: it keeps sorted runs. */
  #items: T[] = [];

  constructor(size: number, rankOf: (item: T) => number) {
    this.size = size;
    this.#rankOf = rankOf;
  }

  add(item: T): void {
    const length = this.#items.push(item);
    if (length >= this.size + UNSORTED || length % UNSORTED === 0) this.#sortAndCut();
  }

  /** Removes and returns the items, largest first. */
  take(): T[] {
    this.#sortAndCut();
    return this.#items.splice(0);
  }

  #sortAndCut(): void {
    this.#items.sort((a, b) => this.#rankOf(b) - this.#rankOf(a));
    this.#items.length = Math.min(this.#items.length, this.size);
  }
}
