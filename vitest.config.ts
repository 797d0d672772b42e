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

/** Files that take minutes and whose subject rarely changes: CI runs them as the project `slow`. */
const SLOW = [
  'test/sim/docs/long-pages.test.ts', // pages whose commands run for seconds
  'test/sim/core/library/broken-machines.test.ts', // every single fault of two machines
  'test/sim/run/library/profile-kills.test.ts', // a profile is killed in each phase of each trial
  'test/sim/run/library/profile-peaks.test.ts', // trainers that take and give back 80 GB at the speed of a Spark
  'test/sim/core/library/probe-kills.test.ts', // a search is killed at every record that it writes
  'test/pkg/every-run.test.ts', // package managers install the package
  'test/kernel/core/others-files.test.ts', // root writes where another user replaces each name
  'test/sim/cli/screens.test.ts', // each screen in windows of four sizes
  'test/sim/run/cli/launch-gpu.test.ts', // programs that hold GPU memory for seconds, recorded
  'test/sim/run/cli/launch-hosts.test.ts', // several machines are asked, by ssh, mpirun and srun
  'test/sim/run/cli/guard-bare.test.ts', // a hundred programs, each bare and guarded
  'test/sim/run/cli/earlyoom.test.ts', // earlyoom looks at series of the field in real time
  'test/sim/show/library/report.test.ts', // each page in a browser
  'test/sim/serve/serve-page.test.ts', // the live page in a browser, with sixteen machines and a day of readings
  'test/sim/core/native/node-workers.test.ts', // a hundred worker threads are terminated in a call
  'test/sim/sim/library/cudart.test.ts', // C++ programs are built with the shared and the static runtime
  'test/sim/sim/library/abi.test.ts', // C programs are compiled against the headers of CUDA and NVML
  'test/sim/sim/library/world.test.ts', // C programs read the simulated machine and take its memory
];

/** Files of test/kernel that neither count nor drop cached pages: they run beside test/sim and mostly wait. */
const BESIDE = [
  'core/full-disk',
  'run/guard-container',
  'core/hostile-trees',
  'core/hung-fuse',
  'run/launch-record',
  'core/no-user',
  'run/record',
  'run/record-ring',
  'serve/serve',
  'run/systemd',
  'core/watch-end',
].map((name) => `test/kernel/${name}.test.ts`);

/** The same of test/kernel. They take gigabytes or wait, and have the machine for themselves: the project `kernel-slow`. */
const KERNEL_SLOW = [
  'test/kernel/run/cluster-ssh.test.ts', // sshd in network namespaces as machines
  'test/kernel/run/guard.test.ts', // programs that take gigabytes down to a floor
  'test/kernel/run/guard-growth.test.ts', // memory of each kind that a program can take
  'test/kernel/run/guard-pressure.test.ts', // real memory pressure, for seconds and lasting
  'test/kernel/run/guard-command.test.ts', // programs in a terminal; a guard of the whole machine
  'test/kernel/core/large-files.test.ts', // files of 2 GiB
  'test/kernel/run/load-actions.test.ts', // fills the page cache with all that is free
  'test/kernel/core/many-files.test.ts', // trees of 20,000 files
  'test/kernel/core/processes.test.ts', // programs that hold 8 GiB in every way that there is
  'test/kernel/run/profile.test.ts', // trainers that really take and give back memory
  'test/kernel/run/systemd-units.test.ts', // a systemd of its own runs units
];

/** What a run leaves out: Vitest's own --exclude does not reach a project that has a list of its own. */
const WITHOUT = (process.env.UMAPROBE_TEST_WITHOUT ?? '').split(' ').filter((file) => file !== '');

const KERNEL = { testTimeout: 120_000, hookTimeout: 120_000 };

/**
 * Each folder of tests is a project. The needs of a test decide its folder. Timeouts end what hangs, and decide nothing else:
 * beside other programs a test takes six times as long.
 */
function project(name: string, options: object = {}) {
  return { extends: true as const, test: { name, include: [`test/${name}/**/*.test.ts`], ...options } };
}

export default defineConfig({
  test: {
    // Processes, not threads: a crash of the addon takes one worker's tests with it, and environment variables are real.
    pool: 'forks',
    // Three times the processors that CI has: with four, both were busy for 0.6 of the time, because a test of test/sim waits.
    // Vitest's own --maxWorkers does not reach a project.
    maxWorkers: 6,
    setupFiles: ['./test/support/state-home.ts'],
    // Of a second, a page beside other programs has often not shown yet what a test waits for.
    expect: { poll: { timeout: 20_000 } },
    // A message in full, and not its first 40 characters.
    chaiConfig: { truncateThreshold: 0 },
    reporters: ['default', './scripts/progress-reporter.mjs', './scripts/skip-reporter.mjs'],
    projects: [
      // No binary, so that files may share a process: starting one takes longer than most files. Nothing is made for
      // them but schemas and the validators of them, in a third of a second where lib/types is as before.
      project('unit', {
        testTimeout: 60_000,
        hookTimeout: 60_000,
        isolate: false,
        env: { UMAPROBE_BINARY: '/a unit test loads no binary' },
        globalSetup: './scripts/machine-validator.mjs',
      }),
      // The real binary on a simulated machine, in processes that the tests start: the files themselves may share one.
      project('sim', { testTimeout: 120_000, hookTimeout: 120_000, isolate: false, exclude: [...SLOW, ...WITHOUT] }),
      project('slow', { testTimeout: 120_000, hookTimeout: 120_000, include: SLOW, exclude: WITHOUT }),
      // The real kernel of this machine: its page cache, real files, other users.
      project('kernel', { ...KERNEL, fileParallelism: false, exclude: [...BESIDE, ...KERNEL_SLOW, ...SLOW] }),
      project('kernel-beside', { ...KERNEL, include: BESIDE }),
      project('kernel-slow', { ...KERNEL, fileParallelism: false, include: KERNEL_SLOW }),
      // What ships: a build for both architectures, and one by the command for machines without a binary.
      project('pkg', { testTimeout: 480_000, hookTimeout: 480_000, globalSetup: './test/pkg/setup.ts', exclude: SLOW }),
      // The recipes of test/recipes/README.md, applied to a copy of the tree that is then built and used.
      project('recipes', { testTimeout: 300_000, hookTimeout: 600_000 }),
      // Programs of Debian on simulated machines: npm run clients fetches them.
      project('clients', { testTimeout: 60_000, hookTimeout: 60_000 }),
      // Every shipped machine with every single fault; test/sim has two machines of it.
      project('matrix', { testTimeout: 600_000 }),
      // Every command on every machine, and on 45 odd ones, side by side: each mostly waits for its simulated time.
      project('agree', { maxConcurrency: 12 }),
      // The same contract on a real device. Files run one at a time, because they read the same counters
      // of one GPU.
      project('gpu', { testTimeout: 60_000, hookTimeout: 60_000, fileParallelism: false }),
    ],
  },
});
