/** sysinfo(2) and sysconf(3) in a preloaded program: the same memory as /proc/meminfo. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { CLIENTS, compileC, missingCompiler } from '../../../support/clients.ts';
import { withMachine } from '../../../support/machines.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const missing = missingCompiler();
const program = join(temporaryFolder('host-memory'), 'host_memory');

function run(machine: string, command: string, args: readonly string[], preload: boolean): Promise<string> {
  return withMachine(machine, ({ foreignEnv }) => {
    const env = { ...process.env, ...foreignEnv({ preload }) };
    return spawnSync(command, args, { encoding: 'utf8', env, timeout: 20_000 }).stdout;
  });
}

/** Bytes of a line of /proc/meminfo. */
function bytesOf(meminfo: string, name: string): number {
  return Number(new RegExp(`^${name}: +(\\d+) kB`, 'm').exec(meminfo)?.[1]) * 1024;
}

describe.skipIf(missing !== null)(
  `the memory that libc tells${missing === null ? '' : ` (skipped: ${missing})`}`,
  () => {
    beforeAll(() => compileC(join(CLIENTS, 'host_memory.c'), program, ['-D_GNU_SOURCE']), 60_000);

    it.each(['gb10', 'gb10-cached', 'h200', 'gh200'])('%s: is that of /proc/meminfo', async (machine) => {
      const meminfo = await run(machine, 'cat', ['/proc/meminfo'], true);
      const [total, free] = [bytesOf(meminfo, 'MemTotal'), bytesOf(meminfo, 'MemFree')];
      const rest = ['Shmem', 'Buffers', 'SwapTotal', 'SwapFree'].map((name) => bytesOf(meminfo, name));
      const [sysinfo = '', ...pages] = (await run(machine, program, [], true)).trim().split('\n');
      // /proc/meminfo is in kB.
      const inKb = sysinfo
        .split(' ')
        .slice(1)
        .map((bytes) => Math.floor(Number(bytes) / 1024) * 1024);
      expect(inKb).toEqual([total, free, ...rest]);
      const inPages = [total, free].map((bytes) => Math.floor(bytes / 4096) * 4096);
      expect(pages).toEqual([`sysconf ${inPages.join(' ')}`, `pages ${inPages.join(' ')}`]);
    });

    it('is that of this computer without the preload', async () => {
      const [real, simulated] = await Promise.all([run('gb10', program, [], false), run('gb10', program, [], true)]);
      expect(real.split('\n')[1]).not.toBe(simulated.split('\n')[1]);
    });
  },
);
