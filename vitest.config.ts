import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// One folder for all that the tests of this run leave behind, removed with the run: a worker that is ended, or a test
// that kills its children, cannot clean up after itself. Open to all, because some tests run as nobody.
// This file is read once a project: the first one makes it.
if (process.env.UMAPROBE_SCRATCH === undefined) {
  const scratch = mkdtempSync(join(tmpdir(), 'umaprobe-vitest-'));
  chmodSync(scratch, 0o1777);
  process.env.UMAPROBE_SCRATCH = scratch;
  process.env.TMPDIR = scratch;
  process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
}

/** A folder of tests is a project: what it needs decides where a test lives. */
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
      // The real kernel of this machine: its page cache, real files, other users. What other programs read and write meanwhile
      // moves the same counters, so a test may be made again.
      project('kernel', { testTimeout: 120_000, hookTimeout: 120_000, fileParallelism: false, retry: 2 }),
      project('pkg', { testTimeout: 240_000, hookTimeout: 240_000, globalSetup: './test/pkg/setup.ts' }), // what ships
      // The recipes of docs/architecture.md, applied to a copy of the tree that is then built and used.
      project('recipes', { testTimeout: 300_000, hookTimeout: 300_000 }),
      // The same contract on a real device. One file after the other: they read the same counters of one card.
      project('gpu', { testTimeout: 60_000, hookTimeout: 60_000, fileParallelism: false }),
    ],
  },
});
