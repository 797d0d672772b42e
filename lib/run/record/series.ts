/** Frames of a session in bins, for a plot or a table. */

import type { SeriesPoint } from '../../types/index.ts';
import type { Frame } from './format.ts';

export interface SeriesOptions {
  at(bootUs: number): string;
  /** Span of the bins; every frame begins in it. */
  fromUs: number;
  toUs: number;
  points: number;
  swapTotal: number | null;
}

interface Bin {
  index: number;
  first: Frame;
  last: Frame;
  /** The frame before the bin: pressure is the growth since. */
  before: Frame | null;
  lowestFree: number | null;
  lowestAvailable: number | null;
}

/** Has at most `points` bins of equal span. Frames are added oldest first; bins without one are left out. */
export class Series {
  readonly #options: SeriesOptions;
  readonly #span: number;
  readonly #points: SeriesPoint[] = [];
  #bin: Bin | null = null;

  constructor(options: SeriesOptions) {
    this.#options = options;
    this.#span = Math.max(1, options.toUs - options.fromUs);
  }

  add(frame: Frame): void {
    const { fromUs, points } = this.#options;
    const index = Math.min(points - 1, Math.max(0, Math.floor(((frame.bootUs - fromUs) / this.#span) * points)));
    const bin = this.#bin;
    if (bin === null || bin.index !== index) {
      if (bin !== null) this.#points.push(this.#pointOf(bin));
      this.#bin = {
        index,
        first: frame,
        last: frame,
        before: bin?.last ?? null,
        lowestFree: frame.free?.lowest ?? null,
        lowestAvailable: frame.available?.lowest ?? null,
      };
      return;
    }
    bin.last = frame;
    bin.lowestFree = lower(bin.lowestFree, frame.free);
    bin.lowestAvailable = lower(bin.lowestAvailable, frame.available);
  }

  /** Oldest first. No frame follows. */
  list(): SeriesPoint[] {
    if (this.#bin !== null) this.#points.push(this.#pointOf(this.#bin));
    this.#bin = null;
    return this.#points;
  }

  #pointOf({ before, first, last, lowestAvailable, lowestFree }: Bin): SeriesPoint {
    const { at, swapTotal } = this.#options;
    const end = last.bootUs + last.durationUs;
    const from = before ?? first;
    return {
      at: at(first.bootUs),
      spanMs: (end - first.bootUs) / 1000,
      free: last.free?.last ?? null,
      lowestFree,
      available: last.available?.last ?? null,
      lowestAvailable,
      swapUsed: swapTotal === null || last.swapFree === null ? null : Math.max(0, swapTotal - last.swapFree),
      somePercent: waitedPercent(from.someUs, last.someUs, end - from.bootUs),
      fullPercent: waitedPercent(from.fullUs, last.fullUs, end - from.bootUs),
    };
  }
}

function lower(least: number | null, range: Frame['free']): number | null {
  if (range === null) return least;
  return Math.min(least ?? range.lowest, range.lowest);
}

function waitedPercent(from: number | null, to: number | null, spanUs: number): number | null {
  if (from === null || to === null || spanUs <= 0) return null;
  return Math.min(100, Math.max(0, ((to - from) / spanUs) * 100));
}
