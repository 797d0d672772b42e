/** What a test has started ends with its worker, however Vitest ends. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../support/guard-program.ts';
import { ROOT } from '../../../support/root.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { waitFor } from '../../../support/wait.ts';

const PROGRAMS = {
  plain: ['sh', '-c', 'echo $$ > plain; exec sleep 600'],
  'deaf, in a session of its own': [
    'setsid',
    'sh',
    '-c',
    `trap '' TERM INT HUP; echo $$ > deaf; while :; do sleep 1; done`,
  ],
  stopped: ['sh', '-c', 'echo $$ > stopped; kill -STOP $$'],
  orphan: ['sh', '-c', 'setsid sh -c "echo \\$\\$ > orphan; exec sleep 600" & exit'],
};

/** Its last program blocks the worker, as spawnSync does. */
const TEST = `
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { it } from 'vitest';
it('starts', () => {
  writeFileSync('worker', String(process.pid));
  for (const [file, ...args] of ${JSON.stringify(Object.values(PROGRAMS))}) spawn(file, args, { stdio: 'ignore', detached: true });
  if (process.env.BLOCKED) spawnSync('sh', ['-c', 'echo $$ > blocking; exec sleep 600']);
  else return new Promise(() => setInterval(() => {}, 1000));
});`;

describe.concurrent('nothing is left', () => {
  it.each([
    ['SIGINT', 'vitest', ''],
    ['SIGTERM', 'vitest', 'yes'],
    ['SIGKILL', 'vitest', ''],
    ['SIGKILL', 'worker', 'yes'],
  ] as const)('after %s of %s', async (signal, whom, blocked) => {
    const folder = temporaryFolder('interrupted');
    writeFileSync(join(folder, 'started.test.ts'), TEST);
    const options = { pool: 'forks', testTimeout: 600_000, setupFiles: [join(ROOT, 'test/support/state-home.ts')] };
    writeFileSync(join(folder, 'vitest.config.mjs'), `export default { test: ${JSON.stringify(options)} };`);
    const vitest = spawn(process.execPath, [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder], {
      cwd: folder,
      stdio: 'ignore',
      env: { ...process.env, BLOCKED: blocked },
    });
    const ended = once(vitest, 'exit');
    const expected = ['worker', 'plain', 'deaf', 'stopped', 'orphan', ...(blocked ? ['blocking'] : [])];
    const pidIn = (name: string): number => {
      const file = join(folder, name);
      return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
    };
    const areUp = (pids: number[]): boolean => pids.every((pid) => pid > 0);
    const pids = await waitFor(`the pids of ${expected.join(', ')}`, () => expected.map(pidIn), areUp);
    expect(pids.filter(runs)).toEqual(pids);
    process.kill(whom === 'vitest' ? (vitest.pid as number) : (pids[0] as number), signal);
    await ended;
    const running = () => expected.filter((_, index) => runs(pids[index] as number));
    await waitFor('the end of all', running, (names) => names.length === 0);
  });
});
