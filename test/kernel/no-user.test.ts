/** A user id without an entry in the user database and without HOME, as in a container with any user id. */

import { rmSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { runInShell } from '../support/cli.ts';
import { isRoot } from '../support/real-files.ts';

const UID = 54_321;
afterAll(() => rmSync(`/var/tmp/umaprobe-${UID}`, { recursive: true, force: true }));

const AS_UNKNOWN = `env -i PATH="$PATH" setpriv --reuid ${UID} --regid ${UID} --clear-groups "$0" "$1"`;

it.for([
  ['snapshot --sim gb10', 0, /can be allocated/],
  ['doctor --sim gb10', 0, /0 failed/],
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
