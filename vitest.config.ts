import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// One folder for all temporary files of this run, removed at its end: a killed worker cannot clean up, nor can a test
// that kills its children. All users can write to it, because some tests run as the user nobody.
// Vitest reads this file once per project; the first reading creates the folder.
if (process.env.UMAPROBE_SCRATCH === undefined) {
  const scratch = mkdtempSync(join(tmpdir(), 'umaprobe-vitest-'));
  chmodSync(scratch, 0o1777);
  process.env.UMAPROBE_SCRATCH = scratch;
  process.env.TMPDIR = scratch;
  process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
}

/** Each folder of tests is a project. The needs of a test decide its folder. */
function project(name: string, options: object = {}) {
  return { extends: true as const, test: { name, include: [`test/${name}/**/*.test.ts`], ...options } };
}

export default defineConfig({
  test: {
    // Processes, not threads: a crash of the addon takes one file's tests with it, and environment variables are real.
    pool: 'forks',
    maxWorkers: 2,
    setupFiles: ['./test/support/state-home.ts'],
    reporters: ['default', './scripts/skip-reporter.mjs'],
    projects: [
      project('unit', { testTimeout: 10_000 }), // no binary
      project('sim', { testTimeout: 30_000, hookTimeout: 30_000 }), // the real binary on a simulated machine
      // The real kernel of this machine: its page cache, real files, other users. Other programs move the same
      // counters, so a failed test is retried.
      project('kernel', { testTimeout: 120_000, hookTimeout: 120_000, fileParallelism: false, retry: 2 }),
      project('pkg', { testTimeout: 240_000, hookTimeout: 240_000, globalSetup: './test/pkg/setup.ts' }), // what ships
      // The recipes of docs/architecture.md, applied to a copy of the tree that is then built and used.
      project('recipes', { testTimeout: 300_000, hookTimeout: 300_000 }),
      // Programs of Debian on simulated machines: npm run clients fetches them.
      project('clients', { testTimeout: 60_000, hookTimeout: 60_000 }),
      // Every shipped machine with every single fault; test/sim has two machines of it.
      project('matrix', { testTimeout: 600_000 }),
      // The same contract on a real device. Files run one at a time, because they read the same counters
      // of one GPU.
      project('gpu', { testTimeout: 60_000, hookTimeout: 60_000, fileParallelism: false }),
    ],
  },
});
