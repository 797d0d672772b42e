/** A synthetic trainer that takes real host memory, profiled end to end. */

import { readFileSync } from 'node:fs';
import { freemem, totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { snapshot } from 'umaprobe';
import { type ProfileReport, profile } from 'umaprobe/run';
import { describe, expect, it } from 'vitest';
import { readRecords } from '../../support/journals.ts';
import { besideOthers, watchOthers } from '../../support/other-programs.ts';
import { ROOT } from '../../support/root.ts';
import { parseDocument } from '../../support/schemas.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { GiB, MiB } from '../../support/units.ts';

const TRAINER = join(ROOT, 'test/support/trainer.mjs');
/** In use by the rule of the profile: free pages in the processors' lists, of which a trial may have left some, are available. */
const used = async () => {
  const { host, kernel } = await snapshot({ memGetInfo: 'never' });
  return (host.total ?? 0) - (host.available ?? 0) - (kernel.freeInCpuLists ?? 0);
};
const rows = ({ trials }: ProfileReport) => trials.map(({ params, status }) => `${params.bs} ${status}`);
/** Above what is in use; the floor of a machine of this size is a quarter of it. */
const LIMIT = 4 * GiB;
const isTooSmall = freemem() < 8 * GiB || totalmem() < 16 * GiB;

/** The limit, once the other programs of this machine have come to rest, as far as they do. */
async function limitNow(): Promise<number> {
  let [before, now] = [Number.POSITIVE_INFINITY, await used()];
  for (const end = performance.now() + 15_000; performance.now() < end && Math.abs(now - before) > 64 * MiB; ) {
    await sleep(1000);
    [before, now] = [now, await used()];
  }
  return Math.round(now + LIMIT);
}

describe('a trainer whose memory grows faster than its batch', () => {
  it('is refused before the batch that would pass the limit, and its memory is back after each trial', async (context) => {
    if (isTooSmall) return context.skip('less than 8 GiB of free memory');
    await besideOthers(context, 128 * MiB, async () => {
      const moved = watchOthers(process.pid);
      const folder = temporaryFolder('profile');
      const journal = join(folder, 'profile.jsonl');
      const limitBytes = await limitNow();
      const report = await profile({
        command: [process.execPath, TRAINER, '{bs}'],
        vary: [{ name: 'bs', values: [2, 4, 8, 24] }],
        limitBytes,
        metric: '([0-9]+) tokens/s',
        journal,
        folder: join(folder, 'record'),
      });
      const check = (): void => {
        expect(rows(report)).toEqual(['2 ok', '4 ok', '8 ok', '24 refused']);
        expect(report.safe?.params).toEqual({ bs: 8 });
        parseDocument(JSON.stringify(report));
        for (const { groupBytes, metric, params, phases, status } of report.trials) {
          if (status === 'refused') continue;
          expect((phases.start ?? 0) + (groupBytes ?? 0)).toBeLessThanOrEqual(limitBytes * 1.02);
          expect(metric).toBe(1000 * (params.bs as number));
          // What others take meanwhile is within the tolerance of the clean slate.
          expect(phases.after).toBeLessThan((phases.start ?? 0) + 512 * MiB);
          const expected = (0.4 + 0.15 * (params.bs as number) ** 1.25) * GiB;
          expect(groupBytes).toBeGreaterThan(expected * 0.95);
        }
        const refused = report.trials.at(-1);
        expect(refused?.notes).toMatch(/^the predicted peak of .* is above the limit/);
        expect(refused?.prediction?.model).toMatch(/^a \+ b·bs.* through bs 2, 4, 8/);
        // The real one would have taken 8.4 GiB; what others take during a trial bends the curve.
        expect((refused?.predictedBytes ?? 0) - (report.trials[2]?.phases.start ?? 0)).toBeGreaterThan(5 * GiB);
        expect(readRecords(journal).filter(({ type }) => type === 'trial-end')).toHaveLength(3);
        expect(readFileSync(join(folder, 'record', 'lock'), 'utf8')).toBe('');
      };
      return { others: moved(), check };
    });
  });

  it('is stopped within 2 % of the limit where the prediction was wrong', async (context) => {
    if (isTooSmall) return context.skip('less than 8 GiB of free memory');
    await besideOthers(context, 128 * MiB, async () => {
      const moved = watchOthers(process.pid);
      const limitBytes = await limitNow();
      const report = await profile({
        command: [process.execPath, TRAINER, '{bs}', '4'],
        vary: [{ name: 'bs', values: [1, 2, 4, 8] }],
        limitBytes,
        journal: false,
        record: false,
      });
      const check = (): void => {
        expect(rows(report)).toEqual(['1 ok', '2 ok', '4 stopped']);
        expect(report.safe?.params).toEqual({ bs: 2 });
        const { groupBytes, notes, phases } = report.trials[2] as ProfileReport['trials'][number];
        // The limit is on the whole machine: what other programs take meanwhile stops the trainer earlier, what they give back later.
        const [least, most] = [
          Math.min(phases.start ?? 0, phases.after ?? 0),
          Math.max(phases.start ?? 0, phases.after ?? 0),
        ];
        expect(groupBytes).toBeLessThanOrEqual(limitBytes * 1.02 - least);
        expect(groupBytes).toBeGreaterThan(limitBytes - 2 * GiB - most);
        expect(notes).toMatch(/available/);
        expect(most - least).toBeLessThan((groupBytes ?? 0) / 2);
      };
      return { others: moved(), check };
    });
  });
});
