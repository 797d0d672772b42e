/**
 * `umaprobe launch` on the real kernel: a program that takes 1.5 GiB of this computer's memory and gives it back. There is no
 * GPU here, so fit has no answer and the guard alone protects the machine.
 */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { LaunchReport } from '../../../lib/types/index.ts';
import { runUmaprobe, umaprobe } from '../../support/cli.ts';
import { besideOthers, watchOthers } from '../../support/other-programs.ts';
import { parseDocument } from '../../support/schemas.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { GiB } from '../../support/units.ts';

const folder = join(temporaryFolder('launch-kernel'), 'record');

/** Touches its memory in steps, keeps it for three seconds, and ends with 3. */
const PROGRAM = `const blocks = [];
for (let i = 0; i < 24; i++) blocks.push(Buffer.alloc(64 * 2 ** 20, 1));
console.log('loaded');
setTimeout(() => process.exit(blocks.length === 24 ? 3 : 4), 3000);`;

it('the receipt says what a program took and gave back, and the recording has its marks', async (context) => {
  const words = ['--json', '--folder', folder, '--ready', '^loaded$', '--bytes', '1500MiB', '--no-prepare'];
  await besideOthers(context, GiB / 4, async () => {
    const moved = watchOthers(process.pid);
    const { code, stderr, stdout } = await umaprobe(['launch', ...words, '--', process.execPath, '-e', PROGRAM]);
    const others = moved();
    expect(code).toBe(3);
    expect(stderr).toContain('loaded');
    const { guard, outcome, plan, receipt } = parseDocument(stdout) as unknown as LaunchReport;
    expect([outcome, plan.verdict]).toEqual(['exited', 'unknown']);
    const own = receipt?.own.bytes ?? 0;
    expect(own).toBeGreaterThan(1.5 * GiB);
    expect(own).toBeLessThan(1.8 * GiB);
    expect(receipt?.headroom).toBe((guard?.lowest.available ?? 0) - (guard?.floor.bytes ?? 0));
    // Its own memory is exact; that of the machine moves with what other programs do, and with the free pages that the
    // processors keep in lists, which MemAvailable does not count.
    const check = (): void => {
      expect(receipt?.took.peak).toBeGreaterThan(0.4 * GiB);
      expect(receipt?.took.peak).toBeLessThan(4 * GiB);
      expect(receipt?.took.loaded).toBeGreaterThan(0.3 * GiB);
      expect(receipt?.after?.returned).toBeGreaterThan(0.3 * GiB);
    };
    return { others, check };
  });
  const recording = runUmaprobe(['record', 'show', '--folder', folder, '--json']).stdout;
  for (const mark of ['launch: loaded', 'launch: exited']) expect(recording).toContain(mark);
});
