/** The largest of many, without keeping or sorting all: a tree has a hundred thousand files, and twenty are shown. */
import { yieldToEventLoop } from '../base/event-loop.ts';

/** Taken off a full heap of 100,000 these take a millisecond. */
const TURN = 2000;

interface Entry<T> {
  key: number;
  item: T;
}

export class LargestN<T> {
  /** A heap, the least first: what is no more than that has no place. */
  readonly #heap: Entry<T>[] = [];
  readonly size: number;
  readonly #of: (item: T) => number;

  constructor(size: number, of: (item: T) => number) {
    this.size = size;
    this.#of = of;
  }

  add(item: T): void {
    const entry = { key: this.#of(item), item };
    const heap = this.#heap;
    if (heap.length < this.size) {
      heap.push(entry);
      this.#up(heap.length - 1);
    } else if (this.size > 0 && entry.key > this.#key(0)) {
      heap[0] = entry;
      this.#down();
    }
  }

  /** Largest first, once; nothing is left here. */
  async take(): Promise<T[]> {
    const heap = this.#heap;
    const sorted = new Array<T>(heap.length);
    for (let at = heap.length - 1; at >= 0; at--) {
      sorted[at] = (heap[0] as Entry<T>).item;
      const last = heap.pop() as Entry<T>;
      if (at > 0) {
        heap[0] = last;
        this.#down();
      }
      if (at % TURN === TURN - 1) await yieldToEventLoop();
    }
    return sorted;
  }

  #key(at: number): number {
    return this.#heap[at]?.key ?? Number.POSITIVE_INFINITY;
  }

  #swap(a: number, b: number): void {
    const heap = this.#heap;
    const held = heap[a] as Entry<T>;
    heap[a] = heap[b] as Entry<T>;
    heap[b] = held;
  }

  #up(from: number): void {
    for (let at = from; at > 0; ) {
      const above = (at - 1) >> 1;
      if (this.#key(above) <= this.#key(at)) return;
      this.#swap(above, at);
      at = above;
    }
  }

  #down(): void {
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      const least = this.#key(left + 1) < this.#key(left) ? left + 1 : left;
      if (this.#key(at) <= this.#key(least)) return;
      this.#swap(at, least);
      at = least;
    }
  }
}
