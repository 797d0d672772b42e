/** The simulated machine as seen by programs that know only its libraries and its kernel files. */

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { simulatorLibrary } from '../../../../lib/core/native/binding.ts';
import type { Machine } from '../../../../lib/sim.ts';
import {
  buildWorldtest,
  CLIENTS,
  compileC,
  cudartFlags,
  missingCompiler,
  missingToolkit,
  unsanitizedEnvironment,
  writeDescriptions,
} from '../../../support/clients.ts';
import { machineWith, withMachine } from '../../../support/machines.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { GiB } from '../../../support/units.ts';

const unbuildable = missingCompiler();
const folder = temporaryFolder('world');
/** Boots a machine on which a simulated second takes 10 ms, for programs in the environment that puts them on it. */
function withForeignEnvironment<T>(machine: Machine | string, use: (env: NodeJS.ProcessEnv) => T): Promise<T> {
  return withMachine(machine, ({ foreignEnv }) => use({ ...unsanitizedEnvironment(), ...foreignEnv() }), {
    scale: 100,
  });
}

/** Under a sanitizer everything takes several times as long. */
const LIMIT_MS = 240_000;

const scenarios = readdirSync(join(CLIENTS, 'world'))
  .filter((file) => file.endsWith('.cc'))
  .flatMap((file) => [...readFileSync(join(CLIENTS, 'world', file), 'utf8').matchAll(/\{"(\w+\.\w+)", \w+\}/g)])
  .map((match) => String(match[1]));

describe.skipIf(unbuildable !== null)(
  `scenarios of the simulated machine${unbuildable === null ? '' : ` (skipped: ${unbuildable})`}`,
  () => {
    let worldtest = '';
    beforeAll(() => {
      worldtest = buildWorldtest(folder);
      writeDescriptions(folder);
    }, LIMIT_MS);

    test('are found, at least as many as there were', () => {
      expect(scenarios.length).toBeGreaterThanOrEqual(71);
    });

    test.each(scenarios)(
      '%s',
      (name) => {
        const { status, stdout, stderr } = spawnSync(worldtest, [folder, name], { encoding: 'utf8' });
        expect({ status, stderr: status === 0 ? '' : stderr, stdout }).toEqual({
          status: 0,
          stderr: '',
          stdout: expect.stringContaining('1 passed, 0 failed'),
        });
      },
      LIMIT_MS,
    );
  },
);

const noToolkit = missingToolkit();

describe.skipIf(noToolkit !== null)(
  `a client built with NVIDIA's header and linked with libcudart${noToolkit === null ? '' : ` (skipped: ${noToolkit})`}`,
  () => {
    const memtool = join(folder, 'memtool');
    beforeAll(() => {
      compileC(join(CLIENTS, 'memtool.c'), memtool, cudartFlags());
    }, LIMIT_MS);

    /** Its output on a machine, and that machine's /proc/meminfo, read by the preloaded `cat`. */
    const runMemtool = (name: string, args: readonly string[] = []) =>
      withForeignEnvironment(name, (env) => {
        const ran = spawnSync(memtool, args, { encoding: 'utf8', env });
        return { ...ran, meminfo: spawnSync('cat', ['/proc/meminfo'], { encoding: 'utf8', env }).stdout };
      });

    test('prints a GB10 as CUDA would, without a message of the loader', async () => {
      const { status, stdout, stderr, meminfo } = await runMemtool('gb10');
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout).toContain('0: NVIDIA GB10 12.1 000F:01:00.0 SMs 48 L2 25165824 bus 256-bit');
      expect(stdout).toContain(
        'totalGlobalMem 128518619136 integrated 1 managed 1 concurrent 1 pageable 1 hostTables 1',
      );
      expect(meminfo).toMatch(/^MemTotal: +125506464 kB$/m);
    });

    test('sees an H200 with the numbers of a real one (driver 580.159.04)', async () => {
      const { stdout } = await runMemtool('h200', ['alloc', '20']);
      expect(stdout).toContain('before: free 149557477376 total 150109880320');
      expect(stdout).toContain('allocated: free 128082640896 total 150109880320');
      expect(stdout).toMatch(/filled in 4\.8 ms of the device, verified/);
    });

    test.each(['device', 'managed', 'host'])('allocates, fills and verifies 40 GiB of %s memory', async (kind) => {
      const { status, stdout, stderr } = await runMemtool('gb10-cached', ['alloc', '40', kind]);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      const free = (when: string) => Number(new RegExp(`^${when}: free (\\d+)`, 'm').exec(stdout)?.[1]);
      // Under 8 GiB are free: the rest is reclaimed from the page cache, and is free memory after cudaFree.
      expect(free('before')).toBeLessThan(8 * GiB);
      expect(free('freed')).toBeGreaterThan(38 * GiB);
      expect(stdout).toContain('verified');
    });
  },
);

describe('programs that read kernel files', () => {
  test('a shell that drops caches as root frees them, and cat sees it', async ({ skip }) => {
    if (process.geteuid?.() !== 0) skip('not root: only root may write drop_caches');
    await withForeignEnvironment('gb10-cached', (env) => {
      // The guard keeps the script from dropping the caches of the real machine.
      const guard = 'grep -q 6.17.0-1032-nvidia /proc/sys/kernel/osrelease || exit 9';
      const script = `${guard}; grep MemFree /proc/meminfo; echo 1 > /proc/sys/vm/drop_caches; grep MemFree /proc/meminfo`;
      const { stdout, stderr, status } = spawnSync('sh', ['-c', script], { encoding: 'utf8', env });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      const [before, after] = [...stdout.matchAll(/MemFree: +(\d+) kB/g)].map((match) => Number(match[1]) * 1024);
      expect(Number(after) - Number(before)).toBeGreaterThan(100 * GiB);
    });
  });

  test('a file that is read again from offset 0 has new contents', async ({ skip }) => {
    if (process.geteuid?.() !== 0) skip('not root: only root may write drop_caches');
    await withForeignEnvironment('gb10-cached', (env) => {
      const program = `
        const { openSync, readFileSync, readSync, writeFileSync } = require('node:fs');
        if (!readFileSync('/proc/sys/kernel/osrelease', 'utf8').includes('6.17.0-1032-nvidia')) process.exit(9);
        const fd = openSync('/proc/meminfo', 'r');
        const text = Buffer.alloc(8192);
        const free = () => Number(/MemFree: +(\\d+)/.exec(text.toString('utf8', 0, readSync(fd, text, 0, 8192, 0)))[1]);
        const before = free();
        writeFileSync('/proc/sys/vm/drop_caches', '1');
        console.log((free() - before) * 1024);`;
      const { status, stderr, stdout } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8', env });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(Number(stdout)).toBeGreaterThan(100 * GiB);
    });
  });

  test('files that the machine replaces are missing, unreadable or have its text, whatever the real ones are', async () => {
    const odd = machineWith('gb10', {
      files: [
        { path: '/proc/meminfo', text: 'MemTotal: 1\u00002 \\n kB\n' },
        { path: '/proc/pressure/memory', missing: true },
        { path: '/proc/self/status', error: 'EIO' },
        { path: '/proc/uptime', text: '5.00 5.00\n', hangMs: 20_000 },
      ],
    });
    await withForeignEnvironment(odd, (env) => {
      const cat = (path: string) => spawnSync('cat', [path], { encoding: 'utf8', env });
      expect(cat('/proc/meminfo').stdout).toBe('MemTotal: 1\u00002 \\n kB\n');
      expect(cat('/proc/pressure/memory').stderr).toContain('No such file or directory');
      expect(cat('/proc/self/status').stderr).toContain('Input/output error');
      const begun = performance.now();
      expect(cat('/proc/uptime').stdout).toBe('5.00 5.00\n');
      expect(performance.now() - begun).toBeGreaterThanOrEqual(200);
    });
  });

  test('scripted processes are in /proc until they end, for ls, sh and cat', async () => {
    const machine = machineWith('gb10', {
      processes: [
        { name: 'stays', pid: 4_200_001, gpuBytes: 0, anonBytes: GiB },
        { name: 'ended', pid: 4_200_002, gpuBytes: 0, anonBytes: GiB },
      ],
      events: [{ atMs: 0, what: 'exit', process: 'ended' }],
      files: [{ path: '/proc/pressure/memory', missing: true }],
    });
    await withForeignEnvironment(machine, (env) => {
      const lines = (program: string, ...args: string[]) =>
        spawnSync(program, args, { encoding: 'utf8', env })
          .stdout.split('\n')
          .filter((line) => line !== '');
      const pids = lines('ls', '/proc').filter((name) => Number(name) > 4_194_304);
      expect(pids).toEqual(['4200001']);
      expect(lines('ls', '/proc')).toEqual(expect.arrayContaining(['meminfo', 'self', 'uptime', String(process.pid)]));
      expect(lines('ls', '/proc/4200001')).toEqual(['cgroup', 'cmdline', 'comm', 'stat', 'statm', 'status']);
      expect(lines('ls', '-l', '/proc/4200001/stat')).toEqual([expect.stringMatching(/^-r--r--r-- 1 .* 0 /)]);
      expect(lines('cat', '/proc/4200001/status')).toEqual(
        expect.arrayContaining(['Name:\tstays', 'Pid:\t4200001', `RssAnon:\t ${1024 ** 2 + 24 * 1024} kB`]),
      );
      expect(lines('cat', '/proc/4200001/cmdline')).toEqual(['stays\0']);
      expect(lines('cat', '/proc/4200001/stat').join().split(' ')).toMatchObject({
        length: 52,
        0: '4200001',
        1: '(stays)',
      });
      const script =
        'for f in 4200001 4200001/comm 4200002 4200001/maps pressure/memory; do [ -e /proc/$f ] && echo $f; done';
      expect(lines('sh', '-c', script)).toEqual(['4200001', '4200001/comm']);
      expect(lines('ls', '/proc/pressure')).not.toContain('memory');
      // Directories that only the machine has.
      expect(lines('ls', '/proc/driver/nvidia')).toEqual(['params', 'version']);
      expect(
        lines('sh', '-c', '[ -d /proc/driver/nvidia ] && [ -r /proc/driver/nvidia/version ] && echo driver'),
      ).toEqual(['driver']);
    });
  });

  test('the simulator exports the libraries, its own functions and the interposers, and nothing else', ({ skip }) => {
    const { stdout, error } = spawnSync('nm', ['-D', '--defined-only', simulatorLibrary()], { encoding: 'utf8' });
    if (error !== undefined) skip(`no nm: ${error.message}`);
    const names = stdout.split('\n').flatMap((line) => / [A-Z] (\S+)$/.exec(line)?.[1] ?? []);
    const known =
      /^(cu[A-Z]|(__)?cuda[A-Z]|nvml[A-Z]|umasim_|__open|open|fopen|lseek|rewind$|pread|stat|lstat|fstatat|__x?l?xstat|access$|faccessat$|opendir$|fdopendir$|readdir|rewinddir$|closedir$|sysconf$|sysinfo$|get_(av)?phys_pages$|__asan|__odr_asan|__ubsan|__tsan)/;
    expect(names.length).toBeGreaterThan(100);
    expect(names.filter((name) => !known.test(name))).toEqual([]);
  });
});
