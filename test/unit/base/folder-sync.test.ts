/** What is on disk, and in which order: the calls that a replacement makes. */

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { writeFileAtomic } from '../../../lib/base/atomic-file.ts';
import { Folder } from '../../../lib/base/folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const calls: string[] = [];
let failure: string | null = null;

/** Files share a process, so that a mock of the module would come too late for who has loaded it. */
beforeEach(() => {
  calls.splice(0);
  const { fsyncSync, renameSync, writeSync } = fs;
  vi.spyOn(fs, 'writeSync').mockImplementation(((fd: number, bytes: Uint8Array) => {
    calls.push('write');
    return writeSync(fd, bytes);
  }) as typeof writeSync);
  vi.spyOn(fs, 'fsyncSync').mockImplementation((fd) => {
    const isFolder = fs.fstatSync(fd).isDirectory();
    calls.push(isFolder ? `sync ${fs.readlinkSync(`/proc/self/fd/${fd}`)}` : 'sync the file');
    if (isFolder && failure !== null) throw Object.assign(new Error(failure), { code: failure });
    fsyncSync(fd);
  });
  vi.spyOn(fs, 'renameSync').mockImplementation((from, to) => {
    calls.push('rename');
    renameSync(from, to);
  });
  syncBuiltinESMExports();
});
afterEach(() => {
  failure = null;
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

it('a file is on disk before it has its name, and the name on return', () => {
  const folder = temporaryFolder('sync');
  writeFileAtomic(join(folder, 'report'), 'text', 0o600);
  expect(calls).toEqual(['write', 'sync the file', 'rename', `sync ${folder}`]);
});

it('a folder that cannot be synced keeps the file; another failure is one', () => {
  const path = join(temporaryFolder('sync'), 'report');
  for (failure of ['EACCES', 'EINVAL', 'ENOTSUP']) expect(() => writeFileAtomic(path, 'text', 0o600)).not.toThrow();
  failure = 'EIO';
  expect(() => writeFileAtomic(path, 'text', 0o600)).toThrow('EIO');
});

it('a folder is synced when it is asked for', () => {
  const path = temporaryFolder('sync');
  const folder = Folder.open(path, 'own');
  folder.sync();
  folder.close();
  expect(calls).toEqual([`sync ${path}`]);
});
