/** One reading as one line, for logs and for `watch` where there is no terminal. */

import { clean, formatPercent } from '../../base/format.ts';
import { headroom } from '../../memory/headroom.ts';
import { health } from '../../memory/health.ts';
import { ledgerBytes } from '../../memory/ledger.ts';
import type { Snapshot } from '../../types/index.ts';
import { amount, type RenderOptions } from '../options.ts';
import { padEnd, padStart } from '../text-layout.ts';

export function readingLine(snapshot: Snapshot, options: RenderOptions): string {
  const { immediate, afterReclaim } = headroom(snapshot);
  const { level, text } = health(snapshot);
  const psi = snapshot.pressure;
  const percent = (value: number | undefined): string => (value === undefined ? 'unknown' : `${value.toFixed(1)} %`);
  const size = (bytes: number | null): string => padStart(amount(bytes, options), 10);
  const parts = [
    snapshot.at,
    snapshot.simulated === null ? null : `SIMULATED ${clean(snapshot.simulated)}`,
    `free ${size(immediate)}`,
    `after reclaim ${size(afterReclaim)}`,
    `GPU ${size(gpuBytes(snapshot))}`,
    `pressure some ${percent(psi?.some.avg10)} full ${percent(psi?.full.avg10)}`,
    level === 'ok' ? 'ok' : `${level}: ${text}`,
  ];
  return parts.filter((part) => part !== null).join('  ');
}

/** Held by GPU processes: of the shared pool where there is one, else of the GPUs themselves; null: nobody could tell. */
function gpuBytes({ ledger, devices }: Snapshot): number | null {
  if (ledger.entries.some(({ label }) => label === 'gpuProcesses')) return ledgerBytes(ledger, 'gpuProcesses');
  const known = devices.flatMap((device) => device.processes ?? []);
  if (devices.every((device) => device.processes === null)) return null;
  return known.reduce((sum, { gpuBytes }) => sum + (gpuBytes ?? 0), 0);
}

const LABEL = 15;

/** A screen is never wider. */
const KEPT = 160;

export interface History {
  add(snapshot: Snapshot): void;
  lines(options: RenderOptions): string[];
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
    lines(options) {
      if (available.length < 2) return [];
      const known = available.filter((value) => value !== null);
      const lowest = known.length === 0 ? null : Math.min(...known);
      const cells = options.width - LABEL - 26;
      const line = (name: string, values: (number | null)[], top: number, words: string): string =>
        `${padEnd(name, LABEL)}${options.paint('notice', padEnd(sparkline(values.slice(-cells), top, options.unicode), cells))}  ${words}`;
      return [
        line('After reclaim', available, total, `lowest ${amount(lowest, options)}`),
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
