/** Inodes with what is cached of them, in one array: a hundred thousand small objects would cost more than the walk. */

const FIELDS = 4;

export class InodeColumns {
  /** dev, ino, cached, cached after: as the binary hands them over. */
  #rows = new Float64Array(FIELDS * 512);
  #filled = 0;

  get length(): number {
    return this.#filled / FIELDS;
  }

  add(rows: Float64Array): void {
    if (this.#filled + rows.length > this.#rows.length) {
      const larger = new Float64Array(2 * (this.#filled + rows.length));
      larger.set(this.#rows.subarray(0, this.#filled));
      this.#rows = larger;
    }
    this.#rows.set(rows, this.#filled);
    this.#filled += rows.length;
  }

  at(index: number): { dev: number; ino: number; cached: number } {
    const row = index * FIELDS;
    return {
      dev: this.#rows[row] as number,
      ino: this.#rows[row + 1] as number,
      cached: this.#rows[row + 2] as number,
    };
  }

  /** Pairs of dev, ino, as the binary takes them, written to `out` from `at` on. */
  pairs(out: Float64Array, at: number): void {
    for (let row = 0; row < this.length; row++) {
      out[at + 2 * row] = this.#rows[row * FIELDS] as number;
      out[at + 2 * row + 1] = this.#rows[row * FIELDS + 1] as number;
    }
  }
}
