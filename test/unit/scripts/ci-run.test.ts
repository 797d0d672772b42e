/** The runner of .ci/run: a stage, the second run of its tests, and what an interrupted run leaves. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../../../scripts/run.mjs';
import { isRunning, resultOf, startModule } from '../../support/processes.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const RUN = `import { Run } from '${join(root, 'scripts/ci.mjs')}'; const run = new Run();`;

it('A failed test of a stage that repeats runs once more, alone; of another stage it does not', async () => {
  const folder = temporaryFolder('run');
  const config = join(folder, 'vitest.config.mjs');
  writeFileSync(config, `export default { test: { reporters: ['${join(root, 'scripts/skip-reporter.mjs')}'] } };`);
  writeFileSync(
    join(folder, 'one.test.mjs'),
    `import { it } from '${join(root, 'node_modules/vitest/dist/index.js')}';
     it('passes', () => {}); it('fails', () => { throw new Error('again'); });`,
  );
  const failure = (name: string) => ({
    name,
    text: `${name} first`,
    again: ['--config', config, '--root', folder, 'one.test.mjs', `--testNamePattern=^${name}$`],
  });
  const totals = { passed: 1, skipped: 0, problems: [], failures: ['passes', 'fails', 'gone'].map(failure) };
  const stage = (name: string, repeats: boolean, failures: object[]) => ({
    name,
    repeats,
    runs: true,
    command: ['bash', '-c', `echo '${JSON.stringify({ ...totals, failures })}' > $UMAPROBE_TEST_TOTALS; exit 1`],
  });
  const list = [stage('tests', true, totals.failures), stage('package', false, [failure('other')])];
  const script = `${RUN}
    await run.phase([${JSON.stringify(list)}]);
    const failures = await run.again();
    run.clean();
    console.log('\\n' + JSON.stringify(failures.map(({ name, first, second }) => [name, first, second?.split('\\n')[0] ?? String(second)])));`;
  const { stdout } = await resultOf(startModule(script, { cwd: root }));
  expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toEqual([
    ['passes', 'passes first', 'null'],
    ['fails', 'fails first', 'Error: again'],
    ['gone', 'gone first', 'no test of this name ran'],
    ['other', 'other first', 'undefined'],
  ]);
});

it('An interrupted run ends what its stages have started, also in sessions of their own, and starts no other', async () => {
  const forever = (name: string) => ({
    name,
    runs: true,
    // The one of a session of its own passes over SIGTERM.
    command: ['bash', '-c', 'setsid bash -c "trap : TERM; echo pid \\$\\$; while :; do sleep 1000; done" & wait'],
  });
  const second = { name: 'two', runs: true, command: ['echo', 'pid', '0'] };
  const lists = JSON.stringify([[forever('one'), second], [forever('beside')]]);
  const script = `${RUN} run.endOnSignals(); await run.phase(${lists});`;
  const child = startModule(script, { cwd: root });
  let seen = '';
  const pid = await new Promise<number>((resolve) => {
    child.stdout.on('data', (text) => {
      seen += text;
      const found = /^pid (\d+)$/m.exec(seen);
      if (found !== null) resolve(Number(found[1]));
    });
  });
  child.kill('SIGTERM');
  const { code, stdout } = await resultOf(child);
  expect(code).toBe(143);
  expect(isRunning(pid)).toBe(false);
  expect(seen + stdout).not.toContain('pid 0');
});
