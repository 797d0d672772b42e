/** What was seen so far, as two small lines: available memory and time lost to waiting for memory. */

import { formatPercent } from '../../base/format.ts';
import { headroom } from '../../memory/headroom.ts';
import type { Snapshot } from '../../types/index.ts';
import { amount, type Look } from '../options.ts';
import { padEnd } from '../text-layout.ts';

const LABEL = 15;
/** A screen is never wider. */
const KEPT = 160;

export interface History {
  add(snapshot: Snapshot): void;
  lines(look: Look): string[];
}

export function createHistory(): History {
  const available: (number | null)[] = [];
  const stalled: (number | null)[] = [];
  let total = 0;
  return {
    add(snapshot) {
      available.push(headroom(snapshot).afterReclaim);
      stalled.push(snapshot.pressure?.full.avg10 ?? null);
      total = snapshot.ledger.total;
      for (const kept of [available, stalled]) if (kept.length > KEPT) kept.shift();
    },
    lines(look) {
      if (available.length < 2) return [];
      const known = available.filter((value) => value !== null);
      const lowest = known.length === 0 ? null : Math.min(...known);
      const cells = look.width - LABEL - 26;
      const line = (name: string, values: (number | null)[], top: number, words: string): string =>
        `${padEnd(name, LABEL)}${look.paint('notice', padEnd(sparkline(values.slice(-cells), top, look.unicode), cells))}  ${words}`;
      return [
        line('After reclaim', available, total, `lowest ${amount(lowest, look)}`),
        // The alarm is at 10 %: a smaller scale would make noise look like trouble.
        line('Stalled (full)', stalled, 10, `now ${formatPercent(stalled.at(-1) ?? null)}`),
      ];
    },
  };
}

/** One mark a value, from empty at 0 to full at `top` and above; a space where the value is unknown. */
export function sparkline(values: readonly (number | null)[], top: number, unicode: boolean): string {
  const marks = unicode ? '▁▂▃▄▅▆▇█' : '_.-~=+*#';
  return values
    .map((value) => {
      if (value === null) return ' ';
      const step = Math.floor((value / top) * marks.length);
      return marks[Math.min(marks.length - 1, Math.max(0, step))] ?? ' ';
    })
    .join('');
}
