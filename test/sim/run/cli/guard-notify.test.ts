/** `guard --notify`: what is refused, what is said, and that it needs no JavaScript. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runUmaprobe, startUmaprobe } from '../../../support/cli.ts';
import { evaluatePackage } from '../../../support/package-on-machine.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { waitFor } from '../../../support/wait.ts';

const folder = temporaryFolder('notify');

function script(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\n${text}\n`);
  chmodSync(file, 0o755);
  return file;
}

/** Less than all of this machine's memory is available: the guard stops the program at once. */
const meminfo = readFileSync('/proc/meminfo', 'utf8');
const TOTAL = Number(/^MemTotal: +(\d+) kB$/m.exec(meminfo)?.[1]) * 1024;
const CRITICAL = ['--kill-below', `${TOTAL - 1}B`, '--grace', '200ms'];

describe('guard --notify', () => {
  it('says that it failed, also with --quiet, and ends as without it', () => {
    const file = script('fails', 'exit 5');
    for (const quiet of [[], ['--quiet']]) {
      const { code, stderr } = runUmaprobe([
        'guard',
        ...CRITICAL,
        ...quiet,
        '--notify',
        `${file} a`,
        '--',
        'sleep',
        '20',
      ]);
      expect([code, stderr]).toEqual([
        6,
        expect.stringContaining(`umaprobe: --notify: ${file} ended with exit code 5.\n`),
      ]);
    }
  });

  it('is in the document', () => {
    const file = script('works', 'exit 0');
    const { stdout } = runUmaprobe(['guard', '--json', ...CRITICAL, '--notify', file, '--', 'sleep', '20']);
    expect(parseDocument(stdout)).toMatchObject({ outcome: 'stopped', notified: [{ exitCode: 0, failure: null }] });
  });

  it('that no shell would read is refused before anything runs, by guard and by launch', () => {
    const marker = join(folder, 'started');
    for (const command of ['guard', 'launch']) {
      const { code, stderr } = runUmaprobe([command, '--notify', 'sh -c "date"', '--', 'touch', marker]);
      expect([code, stderr.split('\n').length, existsSync(marker)]).toEqual([2, 2, false]);
      expect(stderr).toContain('--notify "sh -c "date"": no shell reads its "; put it into a script');
    }
  });

  it('runs although umaprobe was killed', async () => {
    const done = join(folder, 'killed');
    const gate = join(folder, 'gate');
    execFileSync('mkfifo', [gate]);
    const file = script('slow', `touch ${done}.begun; read line < ${gate}; touch ${done}`);
    const child = startUmaprobe(['guard', ...CRITICAL, '--notify', file, '--', 'sleep', '20']);
    // Its output stays open in the notifier.
    const end = once(child, 'exit');
    await waitFor('the notifier', () => existsSync(`${done}.begun`));
    child.kill('SIGKILL');
    expect(await end).toEqual([null, 'SIGKILL']);
    await writeFile(gate, 'go\n');
    await waitFor('the end of the notifier', () => existsSync(done));
  });

  it('runs while JavaScript is blocked', async () => {
    const done = join(folder, 'blocked');
    const file = script('notes', `touch ${done}`);
    const answer = await evaluatePackage<[boolean, string, unknown]>(
      `const { existsSync } = await import('node:fs');
      let seen = null;
      const report = await (await import('umaprobe/run')).guard({
        command: ['sleep', '20'], stdio: 'pipe', killBelowBytes: ${TOTAL - 1}, graceMs: 200, notify: ['${file}'],
        onEvent: ({ type }) => {
          if (type !== 'started') return;
          // Nothing else runs in this process.
          const until = performance.now() + 8000;
          while (!existsSync('${done}') && performance.now() < until);
          seen = existsSync('${done}');
        },
      });
      return [seen, report.outcome, report.notified.map(({ failure }) => failure)];`,
    );
    expect(answer).toEqual([true, 'stopped', [null]]);
  });

  it('of the library takes an array, and refuses what cannot be run', async () => {
    const answers = await evaluatePackage<string[]>(
      `const answers = [];
      for (const notify of ['sh', [], ['/nonexistent'], ['no-such-program'], [1]])
        answers.push(await (await import('umaprobe/run')).guard({ command: ['true'], notify }).then(() => 'ran', (error) => error.message));
      return answers;`,
    );
    expect(answers).toEqual([
      'notify is "sh"; expected an array: a program and its arguments',
      'notify is empty; expected a program and its arguments',
      'notify is "/nonexistent"; expected a program that this user may run, and its arguments',
      'notify is "no-such-program"; expected a program that this user may run, and its arguments',
      'notify[0] is 1; expected a text',
    ]);
  });
});
