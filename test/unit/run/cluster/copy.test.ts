/** The copied file on the other machine: it is run if it is whole and this user's own, and else copied again. */
import { spawnSync } from 'node:child_process';
import { appendFileSync, chownSync, cpSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { copyLine, NOT_THERE, readCopy } from '../../../../lib/run/cluster/copy.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const program = join(temporaryFolder('copied'), 'program');
writeFileSync(program, '#!/bin/sh\necho "$@"\n', { mode: 0o755 });
const copy = readCopy(program);

/** Exit code and output of the script, where the file is there and was changed since. */
function ranAfter(change: (path: string) => void): [number | null, string] {
  const cache = temporaryFolder('cache');
  const path = join(cache, `umaprobe/umaprobe-${copy.sha256.slice(0, 16)}`);
  mkdirSync(join(cache, 'umaprobe'));
  cpSync(program, path);
  change(path);
  const env = { ...process.env, XDG_CACHE_HOME: cache };
  const { status, stdout } = spawnSync('sh', ['-c', copyLine(copy)], { env, encoding: 'utf8' });
  return [status, stdout];
}

it('the file as it was copied is run', () => expect(ranAfter(() => undefined)).toEqual([0, 'snapshot --json\n']));

it('a file with one byte more, and a link, are not', () => {
  expect(ranAfter((path) => appendFileSync(path, '#'))).toEqual([NOT_THERE, '']);
  const link = (path: string) => {
    renameSync(path, `${path}-real`);
    symlinkSync(`${path}-real`, path);
  };
  expect(ranAfter(link)).toEqual([NOT_THERE, '']);
});

it.skipIf(process.getuid?.() !== 0)("another user's file is not (skipped: only root can make one)", () =>
  expect(ranAfter((path) => chownSync(path, 65_534, 65_534))).toEqual([NOT_THERE, '']),
);
