/** `umaprobe sim run --namespace`: the files of a simulated machine for a program that makes system calls itself. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cliEnvironment, runUmaprobe } from '../../../support/cli.ts';
import { CLIENTS, compileC, missingCompiler } from '../../../support/clients.ts';
import { machineFile } from '../../../support/machines.ts';
import { GiB } from '../../../support/units.ts';

/** Why nothing can be tried here; null: something can. */
function obstacle(): string | null {
  const noCompiler = missingCompiler();
  if (noCompiler !== null) return noCompiler;
  const { status, error } = spawnSync('unshare', ['--mount', 'true'], { stdio: 'ignore' });
  const asUser = spawnSync('unshare', ['--user', '--mount', 'true'], { stdio: 'ignore' });
  if (status === 0 || asUser.status === 0) return null;
  return error === undefined ? 'this user may have no mount namespace' : 'no unshare(1) of util-linux';
}

const skipped = obstacle();
// Not in the folder of the tests, which only root may enter.
const folder = mkdtempSync(join(tmpdir(), 'umaprobe-namespace-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe.skipIf(skipped !== null)(`sim run --namespace${skipped === null ? '' : ` (skipped: ${skipped})`}`, () => {
  const program = join(folder, 'raw-open');
  beforeAll(() => {
    chmodSync(folder, 0o755);
    compileC(join(CLIENTS, 'raw-open.c'), program, ['-static']);
  });
  const read = (machine: string, ...args: string[]) =>
    runUmaprobe(['sim', 'run', machine, '--namespace', '--', program, ...args]);

  it('shows a static program the files of the machine, also those that this computer lacks', () => {
    expect(runUmaprobe(['sim', 'run', 'gb10', '--', program, '/proc/meminfo']).stdout).not.toContain('125506464 kB');
    const paths = ['/proc/meminfo', '/proc/sys/vm/min_free_kbytes', '/proc/buddyinfo', '/proc/driver/nvidia/version'];
    const ran = read('gb10', ...paths);
    expect({ code: ran.code, stderr: ran.stderr }).toEqual({ code: 0, stderr: '' });
    expect(ran.stdout).toMatch(/^MemTotal: +125506464 kB$.*^45167$.*^Node 0, zone +Normal .*NVRM .* 580\.142 /ms);
    // Neighbours of a file that was added keep their contents.
    expect(read('gb10', '/proc/driver/rtc').code).toBe(spawnSync(program, ['/proc/driver/rtc']).status);
  });

  it('renews the files while the program runs', () => {
    const machine = machineFile('growing', {
      clock: { scale: 100 },
      events: [{ atMs: 600_000, what: 'anon', bytes: 40 * GiB }],
    });
    const script = `first=$("$0" /proc/meminfo | grep AnonPages)
      for attempt in $(seq 400); do
        now=$("$0" /proc/meminfo | grep AnonPages); [ -n "$now" ] && [ "$now" != "$first" ] && break; sleep 0.05
      done
      echo "$first" "$now"`;
    const { stdout } = runUmaprobe(['sim', 'run', machine, '--namespace', '--', 'sh', '-c', script, program]);
    const [first, now] = [...stdout.matchAll(/(\d+) kB/g)].map((match) => Number(match[1]) * 1024);
    expect(Number(now) - Number(first)).toBe(40 * GiB);
  });

  it('removes a file that the machine lacks, and lets no write through', () => {
    const odd = machineFile('odd', {
      files: [
        { path: '/proc/pressure/memory', missing: true },
        { path: '/proc/vmstat', text: 'oom_kill 7\n' },
      ],
    });
    expect(read(odd, '/proc/pressure/memory')).toMatchObject({ code: constants.errno.ENOENT, stdout: '' });
    expect(read(odd, '/proc/vmstat')).toMatchObject({ code: 0, stdout: 'oom_kill 7\n' });
    for (const path of ['/proc/sys/vm/drop_caches', '/proc/sys/vm/swappiness', '/proc/driver/nvidia/params'])
      expect([constants.errno.EROFS, constants.errno.EACCES]).toContain(read('gb10', '-w', path).code);
  });

  it('passes exit codes on and leaves the mounts of this computer alone', () => {
    const exitCode = (...args: string[]) => runUmaprobe(['sim', 'run', 'gb10', '--namespace', '--', ...args]).code;
    expect(exitCode('sh', '-c', 'exit 7')).toBe(7);
    expect(exitCode('sh', '-c', 'kill -9 $$')).toBe(137);
    expect(exitCode('/no/such/program')).toBe(127);
    expect(exitCode('/etc/passwd')).toBe(126);
    expect(spawnSync('cat', ['/proc/self/mounts'], { encoding: 'utf8' }).stdout).not.toContain('/proc/meminfo');
  });

  it('says in one line what a machine or an option rules out', () => {
    const hangs = machineFile('hangs', { files: [{ path: '/proc/vmstat', hangMs: 1000 }] });
    for (const [args, message] of [
      [[hangs, '--namespace'], '/proc/vmstat fails or hangs, which --namespace cannot show.'],
      [['gb10', '--namespace', '--no-preload'], '--no-preload'],
    ] as const) {
      const ran = runUmaprobe(['sim', 'run', ...args, '--', 'true']);
      expect(ran).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
      expect(ran.stderr.trimEnd()).not.toContain('\n');
    }
  });

  it('names the remedy where the user may not mount', ({ skip }) => {
    // A user namespace that allows no further ones, and a user without capabilities in it.
    const script =
      'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set -all --inh-caps -all "$@"';
    const command = [process.execPath, 'dist/cli.js', 'sim', 'run', 'gb10', '--namespace', '--', 'true'];
    const ran = spawnSync('unshare', ['--user', '--map-root-user', 'sh', '-c', script, 'sh', ...command], {
      encoding: 'utf8',
      env: cliEnvironment(),
    });
    if (ran.error !== undefined || /unshare|setpriv|cannot create/.test(ran.stderr.split('umaprobe:')[0] ?? ''))
      skip(`user namespaces cannot be limited here: ${ran.error?.message ?? ran.stderr}`);
    expect(ran).toMatchObject({
      status: 126,
      stdout: '',
      stderr: expect.stringMatching(/^umaprobe: unshare: .*needs root/),
    });
    expect(ran.stderr.trimEnd()).not.toContain('\n');
  });
});
