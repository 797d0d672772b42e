/** `umaprobe guard`: as if it were not there, until the machine has too little left. */
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { BINARY_PRELUDE } from '../../../support/binary-on-machine.ts';
import {
  CLI,
  exitOf,
  runInShell,
  runUmaprobe,
  snapshotJson,
  startUmaprobe,
  stdoutMatching,
} from '../../../support/cli.ts';
import { runs, startGuard } from '../../../support/guard-program.ts';
import { withMachine } from '../../../support/machines.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { GiB } from '../../../support/units.ts';
import { waitFor } from '../../../support/wait.ts';

const guard = (...words: string[]) => runUmaprobe(['guard', ...words]);

describe('a program under the guard', () => {
  it('has its arguments, its output, its input and its exit code', () => {
    expect(guard('--', 'sh', '-c', 'echo "$1"; echo oops >&2; exit 7', 'sh', '--json')).toEqual({
      code: 7,
      stdout: '--json\n',
      stderr: 'oops\n',
    });
    expect(runInShell('printf "a\\nb\\n" | "$0" "$1" guard -- wc -l')).toMatchObject({ code: 0, stdout: '2\n' });
  });

  it('ends umaprobe by the signal that ended it: a shell says the same', () => {
    for (const signal of ['TERM', 'KILL', 'HUP', 'SEGV']) {
      const script = (program: string) => `${program} sh -c 'kill -${signal} $$'; echo "$?"`;
      const bare = runInShell(script(''));
      expect(runInShell(script('"$0" "$1" guard --')).stdout).toBe(bare.stdout);
    }
  });

  it('gets the signals of umaprobe', async () => {
    const script = `trap 'echo got INT' INT; trap 'echo got USR1' USR1; trap 'echo got TERM; exit 9' TERM;
      echo ready; while true; do sleep 0.05; done`;
    const child = startUmaprobe(['guard', '--', 'sh', '-c', script]);
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    const end = exitOf(child);
    await stdoutMatching(child, /ready/);
    child.kill('SIGINT');
    await expect.poll(() => stdout).toContain('got INT');
    child.kill('SIGUSR1');
    await expect.poll(() => stdout).toContain('got USR1');
    child.kill('SIGTERM');
    expect(await end).toBe(9);
  });

  it('that starts another one which outlives it ends when it ends, and a guard stays with the other', async () => {
    const ran = guard('--ready', 'never', '--', 'sh', '-c', 'sleep 600 & echo done');
    expect(ran).toMatchObject({ code: 0, stdout: 'done\n' });
    const line =
      /^umaprobe: the program ended and left sleep (\d+) running, guarded by umaprobe-guard (\d+) until the end\.\n$/;
    const [, sleeper = '', remaining = ''] = line.exec(ran.stderr) ?? [];
    expect([runs(sleeper), runs(remaining)]).toEqual([true, true]);
    process.kill(Number(sleeper));
    await waitFor('the end of the guard', () => !runs(remaining));
  });

  it('in a dry run what it leaves is not guarded, which is said; --quiet says nothing', () => {
    const pids = join(temporaryFolder('left'), 'pids');
    const script = `sleep 600 > /dev/null 2>&1 & echo $! >> ${pids}; echo done`;
    expect(guard('--dry-run', '--', 'sh', '-c', script).stderr).toMatch(/left sleep \d+ running, not guarded\.\n/);
    expect(guard('--quiet', '--', 'sh', '-c', script)).toEqual({ code: 0, stdout: 'done\n', stderr: '' });
    for (const pid of readFileSync(pids, 'utf8').trim().split('\n')) process.kill(Number(pid));
  });

  it('passes all output on, whole, where a line of it ends the loading', () => {
    const ran = guard('--ready', 'line 3$', '--', 'sh', '-c', 'seq -f "line %g" 20000; printf end; echo oops >&2');
    const lines = ran.stdout.split('\n');
    expect([ran.code, lines.length, lines[19_999], lines.at(-1), ran.stderr]).toEqual([
      0,
      20_001,
      'line 20000',
      'end',
      'oops\n',
    ]);
  });

  it('with --json: the document alone on stdout', () => {
    const { code, stderr, stdout } = guard('--json', '--', 'sh', '-c', 'echo out; exit 3');
    expect([code, stderr]).toEqual([3, 'out\n']);
    expect(parseDocument(stdout)).toMatchObject({
      outcome: 'exited',
      exitCode: 3,
      command: ['sh', '-c', 'echo out; exit 3'],
    });
  });

  it('that cannot be started: 126 and 127, in one line', () => {
    expect(guard('--', '/nonexistent/program')).toEqual({
      code: 127,
      stdout: '',
      stderr: 'umaprobe: /nonexistent/program could not be started: there is no such program (ENOENT)\n',
    });
    expect(guard('--', '/etc/passwd')).toEqual({
      code: 126,
      stdout: '',
      stderr:
        'umaprobe: /etc/passwd could not be started: it is not executable, or this user may not execute it (EACCES)\n',
    });
  });
});

describe('a program that takes too much (simulated)', () => {
  const program = [process.execPath, 'dist/cli.js', 'sim', 'grow', '--rate', '3GiB/s', '--to', '20GiB'];

  it('is stopped with exit code 6 and a sentence', () => {
    const { code, stderr, stdout } = guard('--sim', 'gb10', '--floor', '108GiB', '--quiet', '--', ...program);
    expect([code, stdout]).toEqual([6, '']);
    expect(stderr).toMatch(/^umaprobe: [\d.]+ GiB were available, falling by .*: the program got SIGTERM\.\n$/);
  });
});

describe('GPU memory that another program takes meanwhile (simulated)', () => {
  const grow = (to: string) => ['sim', 'grow', '--rate', '3GiB/s', '--to', to, '--hold', '600s'];
  /** 12 GiB can be taken. On a busy machine it takes longer than the rules allow to see whose memory it is. */
  const guarded = (env: Record<string, string>, program: readonly string[]) => {
    const floorBytes = Number(snapshotJson([], { env }).host.available) - 12 * GiB;
    const rules = { floorBytes, killBelowBytes: 0, wait_s: 5 };
    return startGuard(rules, [process.execPath, ...program], { env: { ...process.env, ...env } });
  };

  it('of a GPU with the memory of the host is not blamed on a program that is idle', async () => {
    await withMachine('gb10', async ({ env }) => {
      const idle = `${BINARY_PRELUDE} b.simHold(${GiB}); print('holds'); setInterval(() => {}, 1e6);`;
      const { child, end } = guarded(env, ['--input-type=module', '-e', idle]);
      await once(child.stdout as Readable, 'data');
      const other = startUmaprobe([...grow('30GiB'), '--gpu'], env);
      await stdoutMatching(other, /holds 2/);
      const asked = new Date().toISOString();
      child.kill('SIGTERM');
      other.kill();
      // What a program holds is not known while it ends, and then memory below the floor stops it.
      const { actions } = (await end).ended;
      expect(actions.filter(({ at }) => at < asked)).toMatchObject([{ action: 'warn' }]);
    });
  });

  it('of a GPU with memory of its own explains nothing that a program took of the host', async () => {
    await withMachine('h200', async ({ env }) => {
      const other = startUmaprobe([...grow('130GiB'), '--gpu'], env);
      await stdoutMatching(other, /holds/);
      const { end } = guarded(env, [CLI, ...grow('20GiB')]);
      expect((await end).ended).toMatchObject({ stopped: true, actions: [{ action: 'term' }] });
      other.kill();
    });
  });
});

describe('the whole machine (simulated)', () => {
  it('has one line where nothing may be stopped, not one a second', async () => {
    const policy = join(temporaryFolder('policy'), 'policy.json');
    writeFileSync(policy, '{"mayStop": []}');
    const limits = ['--floor', '8GiB', '--kill-below', '118GiB'];
    const watch = startUmaprobe(['guard', '--system', '--sim', 'gb10', '--policy', policy, ...limits]);
    let stderr = '';
    watch.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    await waitFor('a line', () => stderr.includes('\n'));
    // It looks again every second.
    await sleep(3500);
    watch.kill('SIGTERM');
    await once(watch, 'exit');
    expect(stderr.match(/Nothing is stopped: no unit or container that may be stopped is running\./g)).toHaveLength(1);
    expect(stderr).not.toContain('SIGKILL');
  });
});

describe('a machine that cannot be watched (simulated)', () => {
  const machine = (files: object[]) => {
    const file = join(temporaryFolder('machine'), 'odd.json');
    writeFileSync(file, JSON.stringify({ extends: 'gb10', name: 'odd', files }));
    return file;
  };
  const begun = join(temporaryFolder('begun'), 'begun');

  it.each(['/proc/meminfo', '/proc/zoneinfo', '/proc/buddyinfo', '/proc/pressure/memory'])(
    '%s does not answer: the program is not started, and the reason is said',
    (path) => {
      const { code, stderr } = guard('--sim', machine([{ path, hangMs: 1e12 }]), '--', 'touch', begun);
      expect([code, existsSync(begun)]).toEqual([path === '/proc/meminfo' ? 6 : 5, false]);
      expect(stderr).toMatch(/^umaprobe: .*(no answer within [12]\d{3} ms|has not answered for 2 s).*\n$/);
      expect(stderr).toContain(path);
    },
  );

  it('has more available than there is: nothing is watched', () => {
    const text = 'MemTotal: 100000000 kB\nMemFree: 9000000 kB\nMemAvailable: 100000001 kB\n';
    const { code, stderr } = guard('--sim', machine([{ path: '/proc/meminfo', text }]), '--', 'touch', begun);
    expect([code, existsSync(begun)]).toEqual([5, false]);
    expect(stderr).toContain('not started, because nothing can be watched: MemAvailable cannot be read');
  });
});

const isKernelThread = existsSync('/proc/2/comm') && readFileSync('/proc/2/comm', 'utf8') === 'kthreadd\n';

describe('targets that would take the machine or the guard with them', () => {
  it.each([
    [['--pid', '1'], 'process 1 cannot be guarded: everything else runs below it'],
    [['--pid', '2'], 'process 2 cannot be guarded: it is a thread of the kernel'],
    [['--pid', String(process.pid)], `process ${process.pid} cannot be guarded: umaprobe runs below it`],
    [['--cgroup', '/'], 'cgroup / cannot be guarded: it has every process'],
    [['--cgroup', '/sys/fs/cgroup/'], 'cgroup / cannot be guarded: it has every process'],
    [['--cgroup', '/a/../..'], 'cgroup / cannot be guarded: it has every process'],
  ])('%j is refused', (words, message) => {
    // A container may have another process there.
    if (words[1] === '2' && !isKernelThread) return;
    const { code, stderr, stdout } = guard(...words);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`umaprobe: ${message}`);
    expect(stderr).toContain('Name what may be stopped, such as --unit vllm.service');
  });
});

it('says in one line what is wrong', () => {
  const { code, stderr, stdout } = guard('--flor', '8GiB', '--', 'true');
  expect([code, stdout, stderr.split('\n').length]).toEqual([2, '', 2]);
  expect(stderr).toContain('umaprobe: guard has no option --flor. Did you mean umaprobe guard --floor 8GiB -- true?');
});
