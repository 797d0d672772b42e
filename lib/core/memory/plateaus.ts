/** Stretches of a series in which memory hardly changed. */

/** Share of MemTotal within which memory counts as the same. */
export const PLATEAU_SHARE = 0.01;

export interface Stretch {
  /** Index of its first and of its last value. */
  first: number;
  last: number;
  mean: number;
}

/** Finds stretches, one behind the other, whose values stay within `width` of each other. Keeps no values. */
export class StretchFinder {
  readonly #width: number;
  #count = 0;
  #first = 0;
  #lowest = Number.POSITIVE_INFINITY;
  #highest = Number.NEGATIVE_INFINITY;
  #sum = 0;

  constructor(width: number) {
    this.#width = width;
  }

  /** The stretch that this value ends; null: it belongs to the same one. */
  add(value: number): Stretch | null {
    const isOther = Math.max(this.#highest, value) - Math.min(this.#lowest, value) > this.#width;
    const ended = isOther ? this.end() : null;
    this.#lowest = Math.min(this.#lowest, value);
    this.#highest = Math.max(this.#highest, value);
    this.#sum += value;
    this.#count++;
    return ended;
  }

  /** The stretch up to the last value; null: no value was added since the one before. */
  end(): Stretch | null {
    const first = this.#first;
    if (this.#count === first) return null;
    const stretch = { first, last: this.#count - 1, mean: this.#sum / (this.#count - first) };
    this.#first = this.#count;
    this.#lowest = Number.POSITIVE_INFINITY;
    this.#highest = Number.NEGATIVE_INFINITY;
    this.#sum = 0;
    return stretch;
  }
}

/** The series in stretches. */
export function stretches(values: readonly number[], width: number): Stretch[] {
  const finder = new StretchFinder(width);
  return [...values.map((value) => finder.add(value)), finder.end()].filter((stretch) => stretch !== null);
}
