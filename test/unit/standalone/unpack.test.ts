/** The package inside the standalone file, unpacked: once, whole, and again when something of it has changed. */

import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { installedFolder, type Packed, unpackedFolder } from '../../../lib/standalone/unpack.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const TEXTS: Record<string, string> = { 'package.json': '{}', 'dist/cli.js': 'one();', 'bin/guard': '#!/bin/sh\n' };

/** A package, and how often a file of it was read. */
function packed(): Packed & { reads: number } {
  const files = Object.entries(TEXTS).map(([path, text]) => ({
    path,
    size: text.length,
    sha256: createHash('sha256').update(text).digest('hex'),
    executable: path === 'bin/guard',
  }));
  return {
    name: '1.2.3-0123456789abcdef',
    folders: ['bin', 'dist'],
    files,
    reads: 0,
    content(path) {
      this.reads++;
      return Buffer.from(TEXTS[path] ?? '');
    },
  };
}

let cache: string;
let inside: ReturnType<typeof packed>;
let said: string[];
const start = () => unpackedFolder(inside, cache, (sentence) => said.push(sentence));
/** What the folder holds, by path. */
const texts = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => lstatSync(join(folder, path)).isFile())
      .map((path) => [path, readFileSync(join(folder, path), 'utf8')]),
  );

beforeEach(() => {
  cache = join(temporaryFolder('standalone'), 'deep', 'umaprobe');
  inside = packed();
  said = [];
});

describe('the unpacked package', () => {
  it('is for this user only, and only its programs can be run', () => {
    const folder = start();
    expect(texts(folder)).toEqual(TEXTS);
    const modes = [cache, folder, join(folder, 'dist'), join(folder, 'bin/guard'), join(folder, 'dist/cli.js')];
    expect(modes.map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700, 0o700, 0o700, 0o600]);
    expect(said).toEqual([]);
  });

  it('is unpacked once, and leaves nothing beside it but the record', () => {
    const folder = start();
    expect(start()).toBe(folder);
    expect(inside.reads).toBe(inside.files.length);
    expect(readdirSync(cache).sort()).toEqual([inside.name, `${inside.name}.verified`]);
  });

  it('is compared by its hashes where the record is of another boot, or gone, and then recorded', () => {
    const folder = start();
    const record = `${folder}.verified`;
    const text = readFileSync(record, 'utf8');
    writeFileSync(record, text.replace(/^.*\n/, 'another boot\n'));
    start();
    expect(readFileSync(record, 'utf8')).toBe(text);
    rmSync(record);
    start();
    expect(readFileSync(record, 'utf8')).toBe(text);
    expect([inside.reads, said]).toEqual([inside.files.length, []]);
  });

  it.each<[string, string, (folder: string) => void]>([
    ['a longer file', 'dist/cli.js', (folder) => appendFileSync(join(folder, 'dist/cli.js'), 'evil();')],
    ['an empty file', 'dist/cli.js', (folder) => truncateSync(join(folder, 'dist/cli.js'))],
    ['a file that is gone', 'package.json', (folder) => rmSync(join(folder, 'package.json'))],
    ['a file that is a link', 'dist/cli.js', (folder) => relink(join(folder, 'dist/cli.js'))],
    ['a folder that is a link', 'dist', (folder) => relink(join(folder, 'dist'))],
    ['a file that others may write', 'dist/cli.js', (folder) => chmodSync(join(folder, 'dist/cli.js'), 0o666)],
    ['a file that was added', 'dist/more.js', (folder) => writeFileSync(join(folder, 'dist/more.js'), '')],
    [
      'a file of the same size and time',
      'dist/cli.js',
      (folder) => {
        const path = join(folder, 'dist/cli.js');
        utimesSync(path, 1e9, 1e9);
        start();
        writeFileSync(path, 'two();');
        utimesSync(path, 1e9, 1e9);
      },
    ],
  ])('is unpacked again, with a sentence, after %s', (_what, path, change) => {
    const folder = start();
    change(folder);
    expect(start()).toBe(folder);
    expect(texts(folder)).toEqual(TEXTS);
    expect(said).toEqual([`${join(folder, path)} is not as it was unpacked; all of it is unpacked again.`]);
    start();
    expect([said.length, inside.reads]).toEqual([1, 2 * inside.files.length]);
    expect(readdirSync(cache).sort()).toEqual([inside.name, `${inside.name}.verified`]);
  });

  it('replaces a link at its name, and leaves what that leads to', () => {
    mkdirSync(cache, { recursive: true, mode: 0o700 });
    const other = temporaryFolder('other');
    writeFileSync(join(other, 'kept'), 'yes');
    symlinkSync(other, join(cache, inside.name));
    const folder = start();
    expect(lstatSync(folder).isDirectory()).toBe(true);
    expect(texts(other)).toEqual({ kept: 'yes' });
  });

  it('is not unpacked by a link to the cache, nor into one that every user may write', () => {
    const real = temporaryFolder('real');
    mkdirSync(join(cache, '..'), { recursive: true });
    symlinkSync(real, cache);
    expect(start).toThrow();
    rmSync(cache);
    mkdirSync(cache);
    chmodSync(cache, 0o777);
    expect(start).toThrow(/every user may write it|others may write/);
    expect([readdirSync(cache), readdirSync(real)]).toEqual([[], []]);
  });

  it('is whole although the content of one file cannot be had: then there is none', () => {
    const { content } = inside;
    inside.content = (path) => {
      if (path === 'bin/guard') throw Object.assign(new Error('disk full'), { code: 'ENOSPC' });
      return content.call(inside, path);
    };
    expect(start).toThrow('disk full');
    expect(readdirSync(cache)).toEqual([]);
  });

  it('is left as it is by a slower process that started at the same time', () => {
    const { content } = inside;
    let first: number | undefined;
    inside.content = (path) => {
      inside.content = content;
      first = lstatSync(unpackedFolder(inside, cache, () => undefined)).ino;
      return content.call(inside, path);
    };
    const folder = start();
    expect([lstatSync(folder).ino, texts(folder), said]).toEqual([first, TEXTS, []]);
  });

  it.skipIf(process.getuid?.() !== 0)("is not unpacked by root into another user's folder", () => {
    const home = temporaryFolder('home');
    chownSync(home, 65_534, 65_534);
    cache = join(home, '.cache', 'umaprobe');
    expect(start).toThrow(/another user/);
    expect(readdirSync(home)).toEqual([]);
  });
});

function relink(path: string): void {
  renameSync(path, `${path}.real`);
  symlinkSync(`${path}.real`, path);
}

describe('the package installed beside the program', () => {
  it('is used as it is', () => {
    const folder = temporaryFolder('installed');
    const program = join(folder, 'umaprobe');
    expect(installedFolder(inside, program)).toBeNull();
    mkdirSync(join(folder, inside.name), { mode: 0o755 });
    expect(installedFolder(inside, program)).toBe(join(folder, inside.name));
    expect(existsSync(cache)).toBe(false);
  });

  it('is not used where others may change it, nor by a link', () => {
    const folder = temporaryFolder('installed');
    const path = join(folder, inside.name);
    mkdirSync(path);
    chmodSync(path, 0o777);
    expect(installedFolder(inside, join(folder, 'umaprobe'))).toBeNull();
    chmodSync(path, 0o755);
    relink(path);
    expect(installedFolder(inside, join(folder, 'umaprobe'))).toBeNull();
  });

  it.skipIf(process.getuid?.() !== 0)("is not used where it is another user's", () => {
    const folder = temporaryFolder('installed');
    const path = join(folder, inside.name);
    mkdirSync(path);
    chownSync(path, 65_534, 65_534);
    expect(installedFolder(inside, join(folder, 'umaprobe'))).toBeNull();
  });
});
