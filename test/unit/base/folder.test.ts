/** The folder of a file that is written: where root writes, what is refused, and that a replaced folder changes nothing. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  lchownSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { obstacle } from '../../../lib/base/atomic-file.ts';
import { Folder, makeTemporaryFolder } from '../../../lib/base/folder.ts';
import { readTrustedFile } from '../../../lib/base/trusted-file.ts';
import type { Trust } from '../../../lib/base/trusted-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const isRoot = process.getuid?.() === 0;
const ADA = 60_001;
const EVE = 60_002;
const root = temporaryFolder('folder');
const at = (...names: string[]) => join(root, ...names);

/** A folder of `uid` with this mode, and those above it as they are. */
function folder(path: string, uid: number, mode = 0o755): void {
  mkdirSync(at(path));
  chownSync(at(path), uid, uid);
  chmodSync(at(path), mode);
}

/** "opened", or the code and message of the error. */
function opening(path: string, trust: Trust): string {
  try {
    Folder.open(path, trust).close();
    return 'opened';
  } catch (error) {
    return `${(error as { code: string }).code} ${(error as Error).message}`;
  }
}

describe.skipIf(!isRoot)('where root writes (skipped: needs root)', () => {
  folder('roots', 0);
  folder('group', 0, 0o775);
  folder('tmp', 0, 0o1777);
  folder('all', 0, 0o777);
  folder('all/inner', 0);
  folder('ada', ADA);
  folder('ada/inner', ADA);
  folder('ada/roots', 0);
  folder('ada/eve', EVE);
  for (const [name, uid] of [
    ['by-root', 0],
    ['by-ada', ADA],
  ] as const) {
    symlinkSync('roots', at(name));
    symlinkSync(at('roots'), at('tmp', name));
    symlinkSync(at('roots'), at('ada', name));
    for (const link of [at(name), at('tmp', name), at('ada', name)]) lchownSync(link, uid, uid);
  }
  symlinkSync('round', at('round'));
  writeFileSync(at('file'), '');

  const SHARED = /^SHARED_FOLDER .*mode 0\d+\); root writes where no other user decides/;
  const FOREIGN = /^FOREIGN_FOLDER .*uid 6000\d.*use a folder of root, or run as that user$/;
  const opened = 'opened';
  it.each([
    ['roots', opened, opened, opened],
    ['roots/..', opened, opened, opened],
    ['group', opened, SHARED, SHARED],
    ['tmp', opened, opened, SHARED],
    ['all', opened, SHARED, SHARED],
    ['all/inner', SHARED, SHARED, SHARED],
    ['ada', opened, FOREIGN, FOREIGN],
    ['ada/inner', opened, FOREIGN, FOREIGN],
    ['ada/roots', FOREIGN, FOREIGN, FOREIGN],
    ['ada/eve', FOREIGN, FOREIGN, FOREIGN],
    ['ada/..', FOREIGN, FOREIGN, FOREIGN],
    ['by-root', opened, opened, /^ENOTDIR/],
    ['by-ada', FOREIGN, FOREIGN, /^ENOTDIR/],
    ['tmp/by-root', opened, opened, /^ENOTDIR/],
    ['tmp/by-ada', FOREIGN, FOREIGN, /^ENOTDIR/],
    ['ada/by-root', FOREIGN, FOREIGN, FOREIGN],
    ['ada/by-ada', FOREIGN, FOREIGN, FOREIGN],
    ['by-root/../file', /^ENOTDIR/, /^ENOTDIR/, /^ENOTDIR/],
    ['round', /^ELOOP/, /^ELOOP/, /^ENOTDIR/],
  ] as const)('%s', (path, ...expected) => {
    // Not at(), which would resolve "..".
    for (const [index, trust] of (['asked', 'own', 'private'] as const).entries())
      expect(`${trust}: ${opening(`${root}/${path}`, trust)}`).toMatch(
        typeof expected[index] === 'string'
          ? `${trust}: ${expected[index]}`
          : new RegExp(`: ${(expected[index] as RegExp).source.slice(1)}`),
      );
  });

  it('replaces its own files and those of the owner of their folder', () => {
    for (const [path, uid] of [
      ['tmp/roots-report', 0],
      ['tmp/eves-report', EVE],
      ['ada/adas-report', ADA],
      ['ada/eves-report', EVE],
    ] as const) {
      writeFileSync(at(path), 'old');
      chownSync(at(path), uid, uid);
    }
    const replacing = (path: string, name: string) => {
      const open = Folder.open(at(path), 'asked');
      try {
        open.replace(name, 'new', 0o600);
      } finally {
        open.close();
      }
    };
    const THEIRS = /^(it )?belongs to another user \(uid 60002\)/;
    for (const path of ['tmp', 'ada']) {
      expect(obstacle(at(path, 'eves-report'))).toMatch(THEIRS);
      expect(() => replacing(path, 'eves-report')).toThrow(THEIRS);
      expect(readFileSync(at(path, 'eves-report'), 'utf8')).toBe('old');
      expect(readdirSync(at(path)).filter((name) => name.startsWith('.umaprobe'))).toEqual([]);
    }
    for (const [path, name] of [
      ['tmp', 'roots-report'],
      ['ada', 'adas-report'],
    ] as const) {
      expect(obstacle(at(path, name))).toBeNull();
      replacing(path, name);
      expect(readFileSync(at(path, name), 'utf8')).toBe('new');
    }
  });

  it('reads a policy that nobody else wrote', () => {
    const reading = (path: string) => {
      try {
        return readTrustedFile('--policy', at(path), 100);
      } catch (error) {
        return (error as Error).message.replace(`--policy ${JSON.stringify(at(path))}: `, '');
      }
    };
    const policy = (path: string, uid: number, mode: number) => {
      writeFileSync(at(path), 'text');
      chownSync(at(path), uid, uid);
      chmodSync(at(path), mode);
      return reading(path);
    };
    expect(policy('roots/policy', 0, 0o644)).toBe('text');
    expect(policy('ada/policy', ADA, 0o644)).toBe('text');
    expect(policy('roots/adas-policy', ADA, 0o644)).toMatch(
      /^it belongs to another user \(uid 60001\) \(FOREIGN_OWNER\)$/,
    );
    expect(policy('tmp/eves-policy', EVE, 0o644)).toMatch(/^it belongs to another user \(uid 60002\)/);
    expect(policy('roots/shared-policy', 0, 0o666)).toMatch(/^every user may write it: chmod o-w/);
    expect(policy('all/policy', 0, 0o644)).toMatch(/^every user may replace what is in/);
    symlinkSync('policy', at('roots/linked-policy'));
    expect(reading('roots/linked-policy')).toMatch(/^it is a symbolic link, which is not followed/);
    execFileSync('mkfifo', [at('roots/fifo')]);
    expect(reading('roots/fifo')).toMatch(/^it is no regular file/);
    writeFileSync(at('roots/policy'), ' '.repeat(101));
    expect(reading('roots/policy')).toMatch(/^it has 101 bytes; at most 100 are read/);
  });

  it('makes temporary folders where no other user replaces them', () => {
    const made = makeTemporaryFolder(at('tmp'), 'x-');
    expect(made.startsWith(at('tmp', 'x-'))).toBe(true);
    expect(statSync(made).mode & 0o777).toBe(0o700);
    expect(() => makeTemporaryFolder(at('ada'), 'x-')).toThrow(/is another user's/);
    expect(() => makeTemporaryFolder(at('all'), 'x-')).toThrow(/others may write/);
    expect(() => makeTemporaryFolder(at('none'), 'x-')).toThrow(/ENOENT/);
  });

  it('makes what is missing below folders of root alone, for root only', () => {
    expect(opening(at('roots/a/b'), 'private')).toBe('opened');
    expect(statSync(at('roots/a')).mode & 0o777).toBe(0o700);
    expect(opening(at('tmp/made'), 'own')).toBe('opened');
    expect(opening(at('roots/missing'), 'asked')).toMatch(/^ENOENT/);
    expect(opening(at('ada/new'), 'own')).toMatch(FOREIGN);
    expect(existsSync(at('ada/new'))).toBe(false);
  });
});

describe('a file in an open folder', () => {
  const mine = temporaryFolder('mine');
  const open =
    (name: string, flags = constants.O_RDWR | constants.O_CREAT) =>
    () => {
      const own = Folder.open(mine, 'own');
      try {
        closeSync(own.openFile(name, flags));
      } finally {
        own.close();
      }
    };
  writeFileSync(join(mine, 'file'), 'text');
  linkSync(join(mine, 'file'), join(mine, 'hard-link'));
  symlinkSync('file', join(mine, 'link'));
  execFileSync('mkfifo', [join(mine, 'fifo')]);
  mkdirSync(join(mine, 'folder'));

  it('is one regular file of this user with one name, made with mode 0600', () => {
    expect(open('new')).not.toThrow();
    expect(statSync(join(mine, 'new')).mode & 0o777).toBe(0o600);
    expect(open('link')).toThrow(expect.objectContaining({ code: 'ELOOP' }));
    expect(open('fifo')).toThrow(expect.objectContaining({ code: 'ENXIO' }));
    expect(open('fifo', constants.O_WRONLY)).toThrow(expect.objectContaining({ code: 'ENXIO' }));
    expect(open('folder')).toThrow(expect.objectContaining({ code: 'EISDIR' }));
    expect(open('hard-link')).toThrow('it has 2 names (hard links), and would change under all of them');
    expect(open('missing', constants.O_RDWR)).toThrow(expect.objectContaining({ code: 'ENOENT' }));
  });

  it.skipIf(!isRoot)("is not another user's (skipped: only root can make one)", () => {
    writeFileSync(join(mine, 'adas'), '');
    chownSync(join(mine, 'adas'), ADA, ADA);
    expect(open('adas')).toThrow(expect.objectContaining({ code: 'FOREIGN_OWNER' }));
  });

  it('stays in the folder that was opened, whatever takes its place', () => {
    const parent = temporaryFolder('parent');
    mkdirSync(join(parent, 'folder'));
    mkdirSync(join(parent, 'other'));
    writeFileSync(join(parent, 'other/report'), 'theirs');
    const own = Folder.open(join(parent, 'folder'), 'asked');
    renameSync(join(parent, 'folder'), join(parent, 'moved'));
    symlinkSync('other', join(parent, 'folder'));
    own.replace('report', 'mine', 0o600);
    own.rehearse();
    own.close();
    expect(readFileSync(join(parent, 'other/report'), 'utf8')).toBe('theirs');
    expect(readdirSync(join(parent, 'moved'))).toEqual(['report']);
    expect(readFileSync(join(parent, 'moved/report'), 'utf8')).toBe('mine');
  });

  it('is removed only where it is a socket', async () => {
    const own = Folder.open(mine, 'own');
    for (const name of ['file', 'link', 'folder', 'missing']) own.removeSocket(name);
    expect(readdirSync(mine)).toEqual(expect.arrayContaining(['file', 'link', 'folder']));
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(mine, 'socket'), resolve));
    own.removeSocket('socket');
    expect(existsSync(join(mine, 'socket'))).toBe(false);
    own.close();
    server.close();
  });
});
