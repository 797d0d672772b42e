/**
 * Changes of MemFree: the fastest changes, short falls that came back, and stretches without change. Frames are added
 * one at a time, oldest first; none is kept for longer than its window.
 */

import { MiB } from '../../base/format.ts';
import { PLATEAU_SHARE, type Stretch, StretchFinder } from '../../core/memory/plateaus.ts';
import type { FastestChange, Plateau, Transient } from '../../types/index.ts';
import type { Frame } from './format.ts';

/** Span over which a rate is taken: shorter ones show the granularity of an allocator, not the machine's loss. */
const RATE_US = 1_000_000;
/** A gap, as after a suspend, has no rate. */
const GAP_US = 3_000_000;
/** A transient falls and is back within this time: a load of 3 s, some work, and an exit that frees tens of GiB in seconds. */
const TRANSIENT_US = 10_000_000;
/** Least depth of a transient. */
const DEPTH = 256 * MiB;
/** A plateau lasts this long. */
const PLATEAU_US = 5_000_000;
/** Entries of a list. */
const LISTED = 20;

type At = (bootUs: number) => string;
/** A frame whose MemFree was read. */
type Free = Frame & { free: NonNullable<Frame['free']> };

export function isFree(frame: Frame): frame is Free {
  return frame.free !== null;
}

/** The fastest fall and rise of MemFree over one second; null: MemFree never fell, or never rose. */
export class FastestChanges {
  fall: FastestChange | null = null;
  rise: FastestChange | null = null;
  readonly #at: At;
  /** The frames of the last second, and the one before it. */
  readonly #recent: { bootUs: number; free: number }[] = [];

  constructor(at: At) {
    this.#at = at;
  }

  add({ bootUs, free }: Free): void {
    const recent = this.#recent;
    recent.push({ bootUs, free: free.last });
    while (recent[1] !== undefined && bootUs - recent[1].bootUs > RATE_US) recent.shift();
    const [from] = recent;
    if (from === undefined || bootUs <= from.bootUs || bootUs - from.bootUs > GAP_US) return;
    const rate = (free.last - from.free) / ((bootUs - from.bootUs) / 1e6);
    const bytesPerSecond = Math.abs(rate);
    if (rate < 0 && bytesPerSecond > (this.fall?.bytesPerSecond ?? 0))
      this.fall = { at: this.#at(from.bootUs), bytesPerSecond };
    if (rate > 0 && bytesPerSecond > (this.rise?.bytesPerSecond ?? 0))
      this.rise = { at: this.#at(from.bootUs), bytesPerSecond };
  }
}

/** The highest value of a window that moves on. */
class SlidingHighest {
  /** Times ascend, values descend: a value that a later and higher one hides is not kept. */
  readonly #values: { us: number; value: number }[] = [];

  add(us: number, value: number): void {
    while ((this.#values.at(-1)?.value ?? Number.POSITIVE_INFINITY) <= value) this.#values.pop();
    this.#values.push({ us, value });
  }

  /** NaN: the window is empty. */
  highestFrom(us: number): number {
    while ((this.#values[0]?.us ?? us) < us) this.#values.shift();
    return this.#values[0]?.value ?? Number.NaN;
  }
}

/** Short falls of MemFree that came back. */
export class Transients {
  readonly #at: At;
  readonly #before = new SlidingHighest();
  readonly #after = new SlidingHighest();
  /** The frames of ten seconds before and after the frame that is judged next. */
  #frames: Free[] = [];
  /** Index of that one, and of the first that is near it. */
  #next = 0;
  #first = 0;
  #found: Transient[] = [];
  #count = 0;
  #last: (Transient & { startUs: number; endUs: number }) | null = null;

  constructor(at: At) {
    this.#at = at;
  }

  add(frame: Free): void {
    for (let next = this.#frames[this.#next]; next && frame.bootUs - next.bootUs > TRANSIENT_US; )
      next = this.#judgeNext(next);
    this.#frames.push(frame);
    this.#after.add(frame.bootUs, frame.free.highest);
  }

  /** Number of changes that `list` has no room for. */
  get leftOut(): number {
    return Math.max(0, this.#count - LISTED);
  }

  /** Deepest first. No frame follows. */
  list(): Transient[] {
    for (let next = this.#frames[this.#next]; next; ) next = this.#judgeNext(next);
    this.#keep();
    return deepest(this.#found);
  }

  /** The frame after it. */
  #judgeNext(frame: Free): Free | undefined {
    this.#judge(frame);
    while ((this.#frames[this.#first]?.bootUs ?? frame.bootUs) < frame.bootUs - TRANSIENT_US) this.#first++;
    this.#next++;
    if (this.#first > this.#frames.length / 2) {
      this.#frames = this.#frames.slice(this.#first);
      this.#next -= this.#first;
      this.#first = 0;
    }
    return this.#frames[this.#next];
  }

  /** Depth of the frame to be judged below two others, ten seconds apart at most, one before and one behind it. */
  #depth({ bootUs, free }: Free): number {
    const most = Math.min(this.#before.highestFrom(bootUs - TRANSIENT_US), this.#after.highestFrom(bootUs + 1));
    if (!(most - free.lowest >= DEPTH)) return 0;
    const before = this.#highs(-1, bootUs - TRANSIENT_US, most);
    const after = this.#highs(1, bootUs + TRANSIENT_US, most);
    let rim = 0;
    let far = after.length - 1;
    for (const { us, value } of before) {
      while (far > 0 && (after[far]?.us ?? 0) - us > TRANSIENT_US) far--;
      const other = after[far];
      if (other !== undefined && other.us - us <= TRANSIENT_US) rim = Math.max(rim, Math.min(value, other.value));
    }
    return rim - free.lowest;
  }

  /** Frames on one side that are higher than all nearer ones, the nearest first, until one reaches `most`. */
  #highs(step: 1 | -1, untilUs: number, most: number): { us: number; value: number }[] {
    const highs: { us: number; value: number }[] = [];
    let highest = 0;
    for (let index = this.#next + step; index >= 0 && highest < most; index += step) {
      const frame = this.#frames[index];
      if (frame === undefined || (untilUs - frame.bootUs) * step < 0) break;
      if (frame.free.highest <= highest) continue;
      highest = frame.free.highest;
      highs.push({ us: frame.bootUs, value: highest });
    }
    return highs;
  }

  #judge(frame: Free): void {
    const { bootUs, durationUs, free, lowestAtUs } = frame;
    const depth = this.#depth(frame);
    this.#before.add(bootUs, free.highest);
    if (depth < DEPTH) return;
    const endUs = bootUs + durationUs;
    const last = this.#last;
    if (last !== null && bootUs - last.endUs <= durationUs) {
      // The same fall, in the next frame.
      last.endUs = endUs;
      last.durationMs = (endUs - last.startUs) / 1000;
      if (depth > last.bytes) Object.assign(last, { bytes: depth, lowestFree: free.lowest });
      return;
    }
    this.#keep();
    this.#last = {
      at: this.#at(bootUs + lowestAtUs),
      durationMs: durationUs / 1000,
      bytes: depth,
      lowestFree: free.lowest,
      startUs: bootUs,
      endUs,
    };
  }

  #keep(): void {
    if (this.#last === null) return;
    const { endUs: _, startUs: __, ...transient } = this.#last;
    this.#last = null;
    this.#found.push(transient);
    this.#count++;
    if (this.#found.length > 10 * LISTED) this.#found = deepest(this.#found);
  }
}

function deepest(found: readonly Transient[]): Transient[] {
  return [...found].sort((a, b) => b.bytes - a.bytes).slice(0, LISTED);
}

/** Stretches in which MemFree hardly changed. */
export class Plateaus {
  readonly #at: At;
  readonly #finder: StretchFinder;
  #found: (Plateau & { us: number })[] = [];
  /** Start of the stretch that is not ended. */
  #fromUs = 0;
  #toUs = 0;

  /** @param total MemTotal in bytes. */
  constructor(total: number, at: At) {
    this.#finder = new StretchFinder(total * PLATEAU_SHARE);
    this.#at = at;
  }

  add({ bootUs, durationUs, free }: Free): void {
    const ended = this.#finder.add(free.last);
    if (ended !== null) this.#keep(ended);
    if (ended !== null || this.#toUs === 0) this.#fromUs = bootUs;
    this.#toUs = bootUs + durationUs;
  }

  /** Longest first. No frame follows. */
  list(): Plateau[] {
    const ended = this.#finder.end();
    if (ended !== null) this.#keep(ended);
    return longest(this.#found).map(({ us: _, ...plateau }) => plateau);
  }

  #keep({ mean }: Stretch): void {
    const us = this.#toUs - this.#fromUs;
    if (us < PLATEAU_US) return;
    this.#found.push({ from: this.#at(this.#fromUs), to: this.#at(this.#toUs), free: mean, us });
    if (this.#found.length > 10 * LISTED) this.#found = longest(this.#found);
  }
}

function longest<Stretch extends { us: number }>(found: readonly Stretch[]): Stretch[] {
  return [...found].sort((a, b) => b.us - a.us).slice(0, LISTED);
}
