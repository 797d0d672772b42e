/** The program earlyoom on simulated machines, and its column in docs/guard-outcomes.md. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { earlyoomCell, earlyoomVersion, fieldSeries, tableOf } from '../../../../scripts/guard-outcomes.mjs';
import { ROOT } from '../../../support/root.ts';

const version = earlyoomVersion();
const missing =
  version === null ? 'earlyoom is not installed' : version === '1.7' ? null : `earlyoom ${version}, not 1.7`;
const rows: string[] = tableOf(readFileSync(join(ROOT, 'docs/guard-outcomes.md'), 'utf8'));
/** Times differ from run to run. */
const withoutTimes = (cell: string) => cell.replace(/after [\d.]+ s/g, 'after some time');

describe.skipIf(missing !== null)(`earlyoom${missing === null ? '' : ` (skipped: ${missing})`}`, () => {
  it.concurrent.each(['fast-fall', 'silent-freeze', 'low-memfree', 'resting', 'ten-spikes', 'load-to-9-gib'])(
    '%s: does what the page says',
    async (name) => {
      const series = fieldSeries().find((one) => one.name === name);
      const row = rows.find((line) => line.startsWith(`| ${series.title} | `))?.split(' | ') ?? [];
      expect(withoutTimes(await earlyoomCell(series))).toBe(withoutTimes(row[3] ?? ''));
    },
    120_000,
  );
});
