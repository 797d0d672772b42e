/** A user id without an entry in the user database and without HOME, as in a container with any user id. */

import { rmSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import type { Snapshot } from '../../../lib/types/index.ts';
import { runInShell } from '../../support/cli.ts';
import { isRoot } from '../../support/real-files.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const UID = 54_321;
afterAll(() => rmSync(`/var/tmp/umaprobe-${UID}`, { recursive: true, force: true }));

const AS_UNKNOWN = `env -i PATH="$PATH" setpriv --reuid ${UID} --regid ${UID} --clear-groups "$0" "$1"`;

// Node itself needs about ten threads, and aborts without them.
it.for([12, 13, 14, 15, 16, 18])(
  'with at most %d processes and threads says what could not be read',
  (limit, context) => {
    if (!isRoot) return context.skip('only root can take another user id');
    const { code, stderr, stdout } = runInShell(`ulimit -u ${limit}; ${AS_UNKNOWN} snapshot --sim gb10 --json`, {
      cwd: '/',
    });
    expect(stderr).not.toContain('looks like a bug');
    if (code !== 0) return;
    const { libraries, host } = JSON.parse(stdout) as Snapshot;
    expect(host.total).toBeGreaterThan(0);
    for (const { reason, state } of [libraries.cuda, libraries.nvml])
      if (state !== 'loaded') expect(reason).toMatch(/pthread_create answered EAGAIN/);
  },
);

it('in a folder that was removed answers, or says so', () => {
  const inNoFolder = (command: string) =>
    runInShell(`mkdir "$PWD/gone" && cd gone && rmdir ../gone && "$0" "$1" ${command}`, {
      cwd: temporaryFolder('cwd'),
    });
  expect(inNoFolder('--sim gb10').code).toBe(0);
  expect(inNoFolder('layout x.json --sim gb10 --csv y').stderr).toMatch(
    /current folder was removed|no directory|ENOENT/,
  );
});

it.for([
  ['snapshot --sim gb10', 0, /can be loaded/],
  ['doctor --sim gb10', 0, /checks passed/],
  ['prepare 1GB --sim gb10', 0, /enough/],
  ['cache status', 0, /No model store was found/],
  ['sweep --sizes 1MB --sim gb10', 0, /COMPLETE/],
  [
    'cache rule',
    2,
    /^umaprobe: the user id of this process has no login name: name the user to permit .*--user NAME\)\n$/,
  ],
] as const)('umaprobe %s', ([command, code, output], context) => {
  if (!isRoot) return context.skip('only root can take another user id');
  const ran = runInShell(`${AS_UNKNOWN} ${command}`, { cwd: '/' });
  expect(ran.code).toBe(code);
  expect(ran.stdout + (code === 0 ? '' : ran.stderr)).toMatch(output);
  expect(ran.stderr).not.toContain('looks like a bug');
});
