/** Files and folders that a caller named: what is refused, with which code, and without waiting. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkNamedFolder, pathError, readNamedFile } from '../../../lib/base/named-path.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const root = temporaryFolder('named');
const at = (name: string) => join(root, name);
mkdirSync(at('folder'));
writeFileSync(at('file'), 'text');
writeFileSync(at('large'), '');
truncateSync(at('large'), 2 ** 40);
execFileSync('mkfifo', [at('fifo')]);
symlinkSync('loop', at('loop'));
symlinkSync('file', at('link'));

it.each([
  [at('none'), 'ENOENT', 'there is no such file or folder'],
  [at('file/x'), 'ENOTDIR', 'a part of it is no folder'],
  [at('folder'), 'EISDIR', 'it is a folder; name a file'],
  [at('fifo'), 'ENXIO', 'it is no regular file; name one'],
  ['/dev/null', 'ENXIO', 'it is no regular file; name one'],
  [at('loop'), 'ELOOP', 'its symbolic links lead nowhere'],
  [at('x'.repeat(300)), 'ENAMETOOLONG', 'the name is too long'],
  [at('large'), 'EFBIG', 'it has 1,099,511,627,776 bytes; at most 1,000 are read'],
  // It says that it has 0 bytes.
  ['/proc/self/smaps', 'EFBIG', 'it has more than 1,000 bytes; at most 1,000 are read'],
  ['', 'ENOENT', 'there is no such file or folder'],
  [at('a\0b'), 'EINVAL', 'a path has no null character'],
] as const)('the file %j is refused: %s', (path, name, message) => {
  expect(() => readNamedFile('--policy', path, 1000)).toThrow(
    expect.objectContaining({
      name: 'UmaError',
      code: 'ERR_UMA_PATH',
      nativeName: name,
      message: `--policy ${JSON.stringify(path)}: ${message} (${name} ${constants.errno[name]})`,
    }),
  );
});

it('reads a regular file, also through a link', () => {
  expect(readNamedFile('--policy', at('file'), 4)).toBe('text');
  expect(readNamedFile('--policy', at('link'), 4)).toBe('text');
});

it('refuses what is no folder', () => {
  expect(() => checkNamedFolder('cwd', at('file'))).toThrow(
    /^cwd ".*file": it is a file; name a folder \(ENOTDIR 20\)$/,
  );
  expect(() => checkNamedFolder('cwd', at('none'))).toThrow(/none": there is no such file or folder \(ENOENT 2\)$/);
  expect(() => checkNamedFolder('cwd', at('folder'))).not.toThrow();
});

it('has another code for what this user may not read', () => {
  expect(pathError('machine', '/x', 'EACCES')).toMatchObject({ code: 'ERR_UMA_PERMISSION', nativeName: 'EACCES' });
});
