/** What doctor reads, how long it waits, and how it reports a library that does not answer. On simulated machines. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DoctorReport } from '../../../../lib/types/index.ts';
import { runUmaprobe } from '../../../support/cli.ts';
import { machineFile } from '../../../support/machines.ts';
import { ROOT } from '../../../support/root.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder('doctor');

describe('doctor', () => {
  it('runs only the requested checks', () => {
    const ids = (args: string[]) =>
      (
        parseDocument(runUmaprobe(['doctor', '--json', '--sim', 'gb10', ...args]).stdout) as unknown as {
          checks: { id: string }[];
        }
      ).checks.map(({ id }) => id);
    expect(ids(['--only', 'library.*,swap.full'])).toEqual(['swap.full', 'library.cuda', 'library.nvml']);
    expect(ids(['--only', 'library.*', '--skip', 'library.nvml'])).toEqual(['library.cuda']);
  });
});

describe('a pair of linked Sparks', () => {
  const pair = join(ROOT, 'test/agree/machines/linked-sparks.json');
  const checks = (args: string[]) => {
    const { code, stdout } = runUmaprobe(['doctor', '--json', '--only', 'rdma.locked,shm.size', ...args]);
    const { checks: found } = parseDocument(stdout) as unknown as DoctorReport;
    return { code, statuses: Object.fromEntries(found.map(({ id, status }) => [id, status])) };
  };

  it('is warned of a limit of locked memory and of a /dev/shm that are too small', () => {
    expect(checks(['--sim', pair])).toEqual({ code: 1, statuses: { 'rdma.locked': 'warn', 'shm.size': 'warn' } });
  });

  it('is not where no cable is plugged in, nor on any other machine', () => {
    const state = '/sys/class/infiniband/rocep1s0f0/ports/1/state';
    const single = machineFile('single', { files: [{ path: state, text: '1: DOWN\n' }] });
    for (const machine of [single, 'gb10', 'h200', 'no-driver'])
      expect(checks(['--sim', machine]), machine).toEqual({
        code: 0,
        statuses: { 'rdma.locked': 'pass', 'shm.size': 'pass' },
      });
  });
});

describe('doctor reads only what its checks need', () => {
  const timed = (args: string[]) => {
    const started = performance.now();
    const ran = runUmaprobe(['doctor', '--json', ...args]);
    const report = parseDocument(ran.stdout) as unknown as DoctorReport;
    return { ms: performance.now() - started, ...report };
  };

  it.each([
    ['gb10-cuda-hang', 'hugepages'], // CUDA without a context answers
    ['gb10-cuda-hang', 'driver.match,driver.pools,fragmentation'],
    ['gb10-hang', 'swap.used,swap.traffic,pressure.rising,watermarks,cma.phantom,permissions'],
  ])('on %s: %s takes no time', (machine, ids) => {
    // doctor waits 2.8 s for a hung library; half of that is far more than the kernel's files take.
    expect(timed(['--sim', machine, '--only', ids]).durationMs).toBeLessThan(1400);
  });

  it('starts no child for checks that need no context', () => {
    const contexts = (only: string) => {
      const file = join(folder, `record-${only}.json`);
      runUmaprobe([
        'sim',
        'run',
        'gb10',
        '--report',
        file,
        '--',
        process.execPath,
        'dist/cli.js',
        'doctor',
        '--only',
        only,
      ]);
      return (JSON.parse(readFileSync(file, 'utf8')) as { counts: { contexts: number } }).counts.contexts;
    };
    expect(contexts('hugepages')).toBe(0);
    expect(contexts('library.cuda')).toBe(1);
  });

  it.each([
    ['gb10-cuda-hang', 'library.cuda', /^CUDA did not answer within 2\.\d+ s/, /cudaMemGetInfo/],
    ['gb10-hang', 'library.nvml', /^NVML did not answer within 2\.[89]\d s/, /nvmlInit_v2/],
  ])('%s: %s gets no answer in time, which is no reason to reboot', (machine, id, summary, call) => {
    const { ms, checks, durationMs } = timed(['--sim', machine, '--only', 'library.*']);
    expect(ms).toBeLessThan(20_000); // it hangs for ten minutes
    const check = checks.find((candidate) => candidate.id === id);
    expect(check).toMatchObject({
      status: 'warn',
      summary: expect.stringMatching(summary),
      evidence: [{ value: expect.stringMatching(call) }],
      remedy: { text: expect.not.stringMatching(/reboot/i) },
    });
    expect(durationMs).toBeGreaterThan(2000);
    expect(durationMs).toBeLessThan(6000);
  });

  it('waits for a slow first start, and does not blame CUDA for a hung NVML', () => {
    const slow = machineFile('slow', { faults: { hang: [{ call: 'cuInit', ms: 2400 }] } });
    for (const machine of [slow, 'gb10-hang']) {
      const [cuda] = timed(['--sim', machine, '--only', 'library.*']).checks;
      expect(cuda).toMatchObject({
        id: 'library.cuda',
        status: 'pass',
        summary: expect.stringContaining('Whether a CUDA program can start was not tried.'),
      });
    }
  });

  it('a fragmented gb10-kho: large blocks of CMA do not count', () => {
    const file = machineFile('kho', { contiguity: { share: 0.02, compactable: 0.02 } }, 'gb10-kho');
    const [check] = timed(['--sim', file, '--only', 'fragmentation']).checks;
    expect(check).toMatchObject({
      status: expect.stringMatching(/^(note|warn)$/),
      effect: { does: 'takes', bytes: expect.any(Number) },
      evidence: expect.arrayContaining([expect.objectContaining({ name: 'free CMA, not counted', unit: 'bytes' })]),
    });
  });
});
