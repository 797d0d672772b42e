/** The span of time that the charts of one recording show: all of them together. */

export interface Span {
  /** Seconds since 1970. */
  from: number;
  to: number;
}

export interface Zoom {
  readonly whole: Span;
  /** Part shown now. */
  span(): Span;
  /** Shows this span, as far as it lies in the whole and is not shorter than `least`. */
  show(span: Span): void;
  /** Shows the span around its middle, or around a time, that is this many times as long. */
  scale(factor: number, around?: number): void;
  /** Returns what ends it. */
  onChange(listener: () => void): () => void;
  /** The whole has a later end. A span that ended with the whole, or was all of it, goes on to do so. */
  extend(to: number): void;
}

/** @param least seconds of the shortest span: a few points of the series. */
export function createZoom(given: Span, least: number): Zoom {
  let whole = given;
  let shown = given;
  const listeners = new Set<() => void>();
  const show = ({ from, to }: Span): void => {
    const length = Math.min(whole.to - whole.from, Math.max(least, to - from));
    const middle = (from + to) / 2;
    const start = Math.max(whole.from, Math.min(whole.to - length, middle - length / 2));
    if (start === shown.from && start + length === shown.to) return;
    shown = { from: start, to: start + length };
    for (const listener of listeners) listener();
  };
  return {
    get whole() {
      return whole;
    },
    span: () => shown,
    show,
    scale(factor, around = (shown.from + shown.to) / 2) {
      show({ from: around - (around - shown.from) * factor, to: around + (shown.to - around) * factor });
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    extend(to) {
      const isAll = shown.from === whole.from && shown.to === whole.to;
      const follows = shown.to === whole.to;
      whole = { from: whole.from, to };
      if (isAll) show(whole);
      else if (follows) show({ from: to - (shown.to - shown.from), to });
    },
  };
}
