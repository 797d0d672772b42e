/** `umaprobe guard`: as if it were not there, until the machine has too little left. */
import { describe, expect, it } from 'vitest';
import { exitOf, runInShell, runUmaprobe, startUmaprobe, stdoutMatching } from '../../support/cli.ts';
import { parseDocument } from '../../support/schemas.ts';

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
    await expect.poll(() => stdout, { timeout: 5000 }).toContain('got INT');
    child.kill('SIGUSR1');
    await expect.poll(() => stdout, { timeout: 5000 }).toContain('got USR1');
    child.kill('SIGTERM');
    expect(await end).toBe(9);
  });

  it('that starts another one which outlives it ends when it ends', () => {
    const begin = performance.now();
    expect(guard('--ready', 'never', '--', 'sh', '-c', 'sleep 20 & echo done')).toMatchObject({
      code: 0,
      stdout: 'done\n',
    });
    expect(performance.now() - begin).toBeLessThan(10_000);
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
  const program = [process.execPath, 'dist/cli.js', 'sim', 'grow', '--rate', '8GiB/s', '--to', '20GiB'];

  it('is stopped with exit code 6 and a sentence', () => {
    const { code, stderr, stdout } = guard('--sim', 'gb10', '--floor', '108GiB', '--quiet', '--', ...program);
    expect([code, stdout]).toEqual([6, '']);
    expect(stderr).toMatch(/^umaprobe: [\d.]+ GiB were available, falling by .*: the program got SIGTERM\.\n$/);
  });
});

describe('mistakes', () => {
  it.each([
    [[], 'A program is missing after "--", such as umaprobe guard -- python3 train.py.'],
    [['--'], 'A program is missing after "--"'],
    [['python3', 'x.py'], 'Put "--" before the program: umaprobe guard -- python3 x.py.'],
    [
      ['--pid', '1', '--', 'true'],
      'guard takes either a program after "--", or one of --pid, --cgroup, --unit and --system.',
    ],
    [['--pid', '1', '--unit', 'x'], 'guard watches one thing: --pid and --unit exclude each other.'],
    [['--policy', 'x.json', '--', 'true'], '--policy says what --system may stop: give both.'],
    [['--system', '--policy', '/nonexistent'], '--policy "/nonexistent": there is no such file or folder (ENOENT 2)\n'],
    [
      ['--system', '--policy', 'package.json'],
      '--policy "package.json": policy has no option "name". It takes schema, mayStop, never, order.',
    ],
    [['--pid', 'x'], '--pid "x" is not a whole number from 1 to 4194304.'],
    [['--floor', '8', '--', 'true'], '--floor "8" has no unit'],
    [['--grace', '5', '--', 'true'], '--grace "5" has no unit'],
    [['--interval', '2s', '--', 'true'], '--interval "2s" is outside 1ms to 1s.'],
    [['--load-actions', 'dorp', '--', 'true'], '--load-actions "dorp" is not one of drop, compact, none.'],
    [['--ready', '(', '--', 'true'], '--ready "(" is no regular expression of RE2: missing closing ): `(`'],
    [['--flor', '8GiB', '--', 'true'], 'guard has no option --flor. Did you mean --floor?'],
  ])('%j', (words, message) => {
    const { code, stderr, stdout } = guard(...words);
    expect([code, stdout, stderr.split('\n').length]).toEqual([2, '', 2]);
    expect(stderr).toContain(`umaprobe: ${message}`);
  });
});
