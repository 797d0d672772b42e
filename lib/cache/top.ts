/** The largest of many, without keeping or sorting all: a tree has a hundred thousand files, and twenty are shown. */
export class Top<T> {
  #items: T[] = [];
  readonly size: number;
  readonly #of: (item: T) => number;

  constructor(size: number, of: (item: T) => number) {
    this.size = size;
    this.#of = of;
  }

  add(item: T): void {
    if (this.size === 0) return;
    this.#items.push(item);
    if (this.#items.length >= 2 * this.size + 1000) this.#cut();
  }

  /** Largest first. */
  list(): T[] {
    this.#cut();
    return this.#items;
  }

  #cut(): void {
    this.#items.sort((a, b) => this.#of(b) - this.#of(a));
    this.#items.length = Math.min(this.#items.length, this.size);
  }
}
