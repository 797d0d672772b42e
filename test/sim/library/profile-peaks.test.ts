/** Peaks of the field in simulated GPU memory: what is predicted, what is refused, and what the guard stops. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ProfileReport } from '../../../lib/types/index.ts';
import { CLI, runUmaprobe } from '../../support/cli.ts';
import { parseDocument } from '../../support/schemas.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { GB } from '../../support/units.ts';

const folder = temporaryFolder('profile');
/** Memory in use on the simulated gb10 at rest, and what a context takes. */
const [IN_USE, CONTEXT] = [7.38, 0.27];

/** `sim grow` with the peaks of a Qwen3-0.6B SFT on a real GB10 (mission.md S3), in the simulated GPU's memory. */
const trainer = join(folder, 'trainer.mjs');
writeFileSync(
  trainer,
  `import { spawnSync } from 'node:child_process';
  const peaks = { 2: 21.1, 4: 29.0, 8: 46.8, 16: 80.9, 32: 150 };
  const mb = Math.round((peaks[process.argv[2]] - ${IN_USE + CONTEXT}) * 1000);
  const curve = '0.3s:' + Math.round(mb * 0.8) + 'MB,1.5s:' + mb + 'MB,2s:' + mb + 'MB';
  const { status } = spawnSync(process.execPath, [${JSON.stringify(CLI)}, 'sim', 'grow', '--gpu', '--curve', curve], { stdio: 'inherit' });
  process.exit(status ?? 1);`,
);

function json(...args: string[]): ProfileReport {
  const options = ['--sim', 'gb10', '--no-record', '--journal', 'none', '--json'];
  const { stderr, stdout } = runUmaprobe(['profile', ...options, ...args]);
  if (stdout === '') throw new Error(stderr);
  return parseDocument(stdout) as unknown as ProfileReport;
}
const rows = ({ trials }: ProfileReport) =>
  trials.map(({ params, status }) => `${Object.values(params).join('/')} ${status}`);

describe('the peaks of a real SFT, in simulated GPU memory', () => {
  it('are predicted within 15 %, and batch 32 is refused (simulated)', () => {
    const report = json('--vary', 'bs=2,4,8,16,32', '--', process.execPath, trainer, '{bs}');
    expect(rows(report)).toEqual(['2 ok', '4 ok', '8 ok', '16 ok', '32 refused']);
    expect(report.safe?.params).toEqual({ bs: 16 });
    expect(report.simulated).toBe('gb10');
    for (const [index, gb] of [21.1, 29.0, 46.8, 80.9].entries())
      expect((report.trials[index]?.peakBytes ?? 0) / GB).toBeCloseTo(gb, 0);
    const sixteen = report.trials[3];
    expect(Math.abs((sixteen?.predictedBytes ?? 0) / (80.9 * GB) - 1)).toBeLessThan(0.15);
    expect(report.trials[4]?.predictedBytes).toBeGreaterThan(100 * GB);
  });
});

describe('a trial (simulated)', () => {
  it('that goes on to grow is stopped at the limit, and the machine survives', () => {
    const grow = [process.execPath, CLI, 'sim', 'grow', '--gpu', '--rate', '20GiB/s', '--to', '{gb}GB'];
    const report = json('--vary', 'gb=10,200', '--', ...grow);
    expect(rows(report)).toEqual(['10 ok', '200 stopped']);
    expect(report.trials[1]?.peakBytes).toBeLessThan(102 * GB);
    expect(report.trials[1]?.phases.after).toBeLessThan(10 * GB);
  });
});
