/** What doctor reads, how long it waits, and how it reports a library that does not answer. On simulated machines. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runUmaprobe } from '../../support/cli.ts';
import { machineFile } from '../../support/machines.ts';
import { parseDocument } from '../../support/schemas.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = temporaryFolder('doctor');

describe('doctor', () => {
  it('runs only the requested checks', () => {
    const ids = (args: string[]) =>
      (
        parseDocument(runUmaprobe(['doctor', '--json', '--sim', 'gb10', ...args]).stdout) as unknown as {
          checks: { id: string }[];
        }
      ).checks.map(({ id }) => id);
    expect(ids(['--only', 'library.*,swap'])).toEqual(['library.cuda', 'library.nvml', 'swap']);
    expect(ids(['--only', 'library.*', '--skip', 'library.nvml'])).toEqual(['library.cuda']);
  });
});

describe('doctor reads only what its checks need', () => {
  const timed = (args: string[]) => {
    const started = performance.now();
    const ran = runUmaprobe(['doctor', '--json', ...args]);
    const { checks } = parseDocument(ran.stdout) as unknown as {
      checks: {
        id: string;
        status: string;
        cause: string;
        evidence: string;
        remedy: string | null;
        durationMs: number;
      }[];
    };
    return { ms: performance.now() - started, checks };
  };

  it.each([
    ['gb10-cuda-hang', 'hugepages'], // CUDA without a context answers
    ['gb10-cuda-hang', 'driver.*,contiguity'],
    ['gb10-hang', 'swap,pressure,watermarks,cma.phantom,permissions'],
  ])('on %s: %s takes no time', (machine, ids) => {
    const { checks } = timed(['--sim', machine, '--only', ids]);
    // doctor waits 2.8 s for a hung library; half of that is far more than the kernel's files take.
    for (const check of checks) expect(check.durationMs).toBeLessThan(1400);
  });

  it('starts no child for checks that need no context', () => {
    const contexts = (only: string) => {
      const file = join(folder, `record-${only}.json`);
      runUmaprobe([
        'sim',
        'run',
        'gb10',
        '--record',
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
    ['gb10-cuda-hang', 'library.cuda', /^CUDA \(cudaMemGetInfo\) did not answer within 2\.\d+ s/],
    ['gb10-hang', 'library.nvml', /^NVML did not answer within 2\.[89]\d s/],
  ])('%s: %s gets no answer in time, which is no reason to reboot', (machine, id, cause) => {
    const { ms, checks } = timed(['--sim', machine, '--only', 'library.*']);
    expect(ms).toBeLessThan(20_000); // it hangs for ten minutes
    const check = checks.find((candidate) => candidate.id === id);
    expect(check).toMatchObject({ status: 'warn', cause: expect.stringMatching(cause) });
    expect(check?.remedy).not.toMatch(/reboot/i);
    expect(check?.durationMs).toBeGreaterThan(2000);
    expect(check?.durationMs).toBeLessThan(6000);
  });

  it('waits for a slow first start, and does not blame CUDA for a hung NVML', () => {
    const slow = machineFile('slow', { faults: { hang: [{ call: 'cuInit', ms: 2400 }] } });
    for (const machine of [slow, 'gb10-hang']) {
      const [cuda] = timed(['--sim', machine, '--only', 'library.*']).checks;
      expect(cuda).toMatchObject({ id: 'library.cuda', status: 'pass' });
      expect(cuda?.evidence).toContain('cudaMemGetInfo was not read');
    }
  });

  it('a fragmented gb10-kho: large blocks of CMA do not count', () => {
    const file = machineFile('kho', { contiguity: { share: 0.02 } }, 'gb10-kho');
    const [check] = timed(['--sim', file, '--only', 'contiguity']).checks;
    expect(check).toMatchObject({ status: 'warn', evidence: expect.stringContaining('of free CMA not counted') });
  });
});
