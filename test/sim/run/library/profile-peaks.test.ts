/** Peaks of the field in simulated GPU memory: what is predicted, what is refused, and what the guard stops. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ProfileReport } from '../../../../lib/types/index.ts';
import { CLI, runUmaprobe } from '../../../support/cli.ts';
import { ROOT } from '../../../support/root.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { GB, GiB } from '../../../support/units.ts';

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
  const curve = '0.3s:' + Math.round(mb * 0.8) + 'MB,1.5s:' + mb + 'MB';
  const { status } = spawnSync(process.execPath, [${JSON.stringify(CLI)}, 'sim', 'grow', '--gpu', '--hold', '0.5s', '--curve', curve], { stdio: 'inherit' });
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

/** The simulated H200 with other devices. */
function machineFile(name: string, change: (devices: H200Device[]) => object[]): string {
  const { devices } = JSON.parse(readFileSync(join(ROOT, 'lib/machines/h200.json'), 'utf8')) as {
    devices: H200Device[];
  };
  const path = join(folder, `${name}.json`);
  writeFileSync(
    path,
    JSON.stringify({ schema: 'umaprobe/machine/1', extends: 'h200', name, devices: change(devices) }),
  );
  return path;
}

interface H200Device {
  nvml: object;
}

describe('a GPU with memory of its own (simulated)', () => {
  const profileOn = (...args: string[]) => {
    const options = ['--sim', 'h200', '--no-record', '--journal', 'none', '--json'];
    const grow = [process.execPath, CLI, 'sim', 'grow', '--gpu', '--hold', '1.2s', '--curve', '0.3s:{gb}GB'];
    const { stderr, stdout } = runUmaprobe(['profile', ...options, ...args, '--', ...grow]);
    if (stdout === '') throw new Error(stderr);
    return parseDocument(stdout) as unknown as ProfileReport;
  };

  it('is what the peaks, the headroom and the limit are of', () => {
    const report = profileOn('--vary', 'gb=10,20,40,80', '--limit', '60GB');
    expect(report.pool.name).toBe('gpu');
    expect(report.limit).toEqual({ bytes: 60 * GB, from: "as requested, of the GPU's own memory" });
    expect(rows(report)).toEqual(['10 ok', '20 ok', '40 ok', '80 refused']);
    for (const { params, peakBytes, phases } of report.trials.slice(0, 3)) {
      const taken = (peakBytes ?? 0) - (phases.start ?? 0);
      expect(Math.abs(taken / ((params.gb as number) * GB) - 1)).toBeLessThan(0.1);
    }
    expect(report.safe?.headroomBytes).toBeLessThan(report.pool.total - 40 * GB);
  });

  it('is limited by name, as is the host', () => {
    const report = profileOn('--vary', 'gb=10,20', '--limit', 'gpu=15GB');
    expect(report.limit).toEqual({ bytes: 15 * GB, from: "as requested, of the GPU's own memory" });
    expect(rows(report)).toEqual(['10 ok', '20 over']);
    const host = profileOn('--vary', 'gb=10,20', '--limit', 'host=64GiB');
    expect(host.pool).toEqual({ name: 'host', total: host.total, gpus: [] });
    expect(host.limit).toEqual({ bytes: 64 * GiB, from: "as requested, of the host's memory" });
    // What the GPU takes is not the host's.
    expect(rows(host)).toEqual(['10 ok', '20 ok']);
    for (const { gpu, peakBytes } of host.trials) expect([gpu, (peakBytes ?? 0) < 8 * GB]).toEqual([null, true]);
    expect(host.trials.map(({ notes }) => notes)).toEqual([
      expect.stringMatching(/^9\.\d GiB of the own memory of GPU 0 were in use, which the limit does not count: /),
      expect.stringContaining('--limit gpu=<size> does'),
    ]);
  });

  it('beside one that shares the host’s is said with the answer, where the program took it and not the host’s', () => {
    const beside = ['--sim', join(ROOT, 'test/agree/machines/gb10-beside-h200.json'), '--no-record'];
    const grow = [process.execPath, CLI, 'sim', 'grow', '--gpu', '--hold', '0.5s', '--curve', '0.1s:{gb}GB'];
    const profile = ['profile', ...beside, '--journal', 'none', '--vary', 'gb=20,40', '--', ...grow];
    const { stdout } = runUmaprobe(profile);
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /SAFE gb 40 is the largest .* Of its trial: 37\.\d GiB of the own memory of GPU 0 were in use, which the limit does not count/,
    );
  });

  it.each([
    ['h200', 'ram=5GB', 'names no pool: write gpu=<size> or host=<size>'],
    ['h200', 'gpu=', '--limit gpu= ""'],
    ['gb10', 'gpu=5GB', 'no visible GPU has memory of its own'],
  ])('on %s the limit %s is refused', (machine, limit, message) => {
    const { code, stderr } = runUmaprobe([
      'profile',
      '--sim',
      machine,
      '--journal',
      'none',
      '--limit',
      limit,
      '--vary',
      'gb=1',
      '--',
      'true',
      '{gb}',
    ]);
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(message);
    expect([code, stderr]).toEqual([2, expect.not.stringContaining('    at ')]);
  });

  it('in MIG mode is not known, and never the host by itself', () => {
    const machine = machineFile('mig', ([gpu]) => [{ ...gpu, nvml: { ...gpu?.nvml, migMode: 1 } }]);
    const ask = (...limit: string[]) =>
      runUmaprobe([
        'profile',
        '--sim',
        machine,
        '--no-record',
        '--journal',
        'none',
        '--json',
        ...limit,
        '--vary',
        'gb=1',
        '--',
        'true',
        '{gb}',
      ]);
    expect(ask().stderr).toMatch(/own memory holds is not known \(GPU 0, NVIDIA H200: it is in MIG mode/);
    expect(ask().stdout).toContain('ERR_UMA_NOT_SUPPORTED');
    expect((parseDocument(ask('--limit', 'host=20GB').stdout) as unknown as ProfileReport).pool.name).toBe('host');
  });

  it('is the one that the program uses, where there are several, and the table names it', () => {
    const machine = machineFile('two', ([gpu]) => [
      { ...gpu, memory: 60 * GB },
      { ...gpu, uuid: 'GPU-5117ab1e-0000-0000-0000-000000000202', pciBusId: '0000:00:07.0' },
    ]);
    const options = [
      'profile',
      '--sim',
      machine,
      '--no-record',
      '--journal',
      'none',
      '--env',
      'CUDA_VISIBLE_DEVICES=1',
    ];
    const trials = [
      '--vary',
      'gb=10,20',
      '--',
      process.execPath,
      CLI,
      'sim',
      'grow',
      '--gpu',
      '--hold',
      '1.2s',
      '--curve',
      '0.3s:{gb}GB',
    ];
    const report = parseDocument(runUmaprobe([...options, '--json', ...trials]).stdout) as unknown as ProfileReport;
    expect(report.pool.gpus.map(({ index }) => index)).toEqual([0, 1]);
    for (const { gpu, headroomBytes, params, peakBytes } of report.trials) {
      expect(gpu).toBe(1);
      expect(peakBytes).toBeGreaterThan((params.gb as number) * GB);
      expect((headroomBytes ?? 0) + (peakBytes ?? 0)).toBe(report.pool.gpus[1]?.total);
    }
    const { stdout } = runUmaprobe([...options, ...trials]);
    expect(stdout).toMatch(/gb {2}GPU {2}peak GiB/);
    expect(stdout).toContain('GPU 1, NVIDIA H200');
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('of GPU 1, ');
  });

  it('that runs out is measured as out of memory', () => {
    const report = profileOn('--vary', 'gb=20,400');
    expect(rows(report)).toEqual(['20 ok', '400 out-of-memory']);
    expect(report.safe?.params).toEqual({ gb: 20 });
  });
});
