/**
 * The package inside the standalone file, as a folder: beside the program where a Debian package has installed it, else
 * unpacked once into the user's cache.
 */

import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Folder, makeTemporaryFolder } from '../base/folder.ts';
import { systemText } from '../base/system-file.ts';
import { Refusal } from '../base/trusted-folder.ts';

/** A file of the package. */
export interface PackedFile {
  /** Relative to the package, with "/". */
  path: string;
  /** Bytes. */
  size: number;
  sha256: string;
  executable: boolean;
}

/** The package inside the standalone file. */
export interface Packed {
  /** Version and the hash of the list: the name of its folder. */
  name: string;
  /** Relative to the package, each after the one that it is in. */
  folders: readonly string[];
  files: readonly PackedFile[];
  content(path: string): Uint8Array;
}

/** Loaded where hashes are compared: it takes as long as the rest of a start. */
const loadCrypto = (): typeof import('node:crypto') => process.getBuiltinModule('node:crypto');

/** Permissions that let another user change the programs. */
const OTHERS_WRITE = 0o022;
const EVERYBODY_WRITES = 0o002;

/** The folder that was installed beside the program by root or this user, who installed the program, too; null: none. */
export function installedFolder(packed: Packed, program: string): string | null {
  const folder = join(dirname(program), packed.name);
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (stat === undefined || !stat.isDirectory() || (stat.mode & OTHERS_WRITE) !== 0) return null;
  return stat.uid === 0 || stat.uid === process.geteuid?.() ? folder : null;
}

/**
 * The folder in the user's cache, unpacked if it is not there. Later changes are found by the inode, size and times of
 * each file; after one, and after each boot, by the hash of each file. A folder that is not whole is replaced.
 *
 * @param cache made for this user only (0700) if it is missing. Root's must be a folder of root.
 * @param warn takes one sentence about a folder that was replaced.
 * @throws Refusal, or the system's error.
 */
export function unpackedFolder(packed: Packed, cache: string, warn: (sentence: string) => void): string {
  const parent = Folder.open(cache, 'private');
  try {
    const { uid, mode } = fstatSync(parent.fd);
    if (uid !== process.geteuid?.()) throw new Refusal('FOREIGN_FOLDER', `it belongs to another user (uid ${uid})`);
    if ((mode & EVERYBODY_WRITES) !== 0) throw new Refusal('SHARED_FOLDER', 'every user may write it');
    const folder = join(cache, packed.name);
    const record = `${packed.name}.verified`;
    const seen = signature(packed, folder);
    if (typeof seen === 'object' && seen.text === recordedIn(parent, record)) return folder;
    const problem = problemOf(packed, folder);
    if (problem !== null) {
      if (lstatSync(folder, { throwIfNoEntry: false }) !== undefined)
        warn(`${join(folder, problem)} is not as it was unpacked; all of it is unpacked again.`);
      unpack(packed, cache, folder);
    }
    const now = signature(packed, folder);
    if (typeof now === 'object') keep(parent, record, now.text);
    return folder;
  } finally {
    parent.close();
  }
}

/** The path of a file that is missing, another user's, or of another size; else a text that changes with any file. */
function signature(packed: Packed, folder: string): string | { text: string } {
  const lines = [systemText('/proc/sys/kernel/random/boot_id')];
  const uid = process.geteuid?.();
  const add = (path: string, isRight: (stat: Stats) => boolean): boolean => {
    const stat = lstatSync(`${folder}/${path}`, { throwIfNoEntry: false });
    if (stat === undefined || stat.uid !== uid || (stat.mode & OTHERS_WRITE) !== 0) return false;
    lines.push(`${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`);
    return isRight(stat);
  };
  for (const path of ['', ...packed.folders]) if (!add(path, (stat) => stat.isDirectory())) return path;
  for (const { path, size } of packed.files)
    if (!add(path, (stat) => stat.isFile() && stat.nlink === 1 && stat.size === size)) return path;
  return { text: lines.join('\n') };
}

/** The path of a file that is not as it was unpacked; null: the folder is whole. */
function problemOf(packed: Packed, folder: string): string | null {
  const seen = signature(packed, folder);
  return typeof seen === 'string' ? seen : difference(packed, folder);
}

/** The path of a file that has another content, or is not of the package; null: none. */
function difference(packed: Packed, folder: string): string | null {
  const known = new Set([...packed.folders, ...packed.files.map(({ path }) => path)]);
  const stranger = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((path) => !known.has(path));
  if (stranger !== undefined) return stranger;
  return packed.files.find(({ path, sha256 }) => hashOf(join(folder, path)) !== sha256)?.path ?? null;
}

function hashOf(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { createHash } = loadCrypto();
    return createHash('sha256').update(readFileSync(file)).digest('hex');
  } finally {
    closeSync(file);
  }
}

/** Unpacks into a folder of its own, which takes the name when it is whole. */
function unpack(packed: Packed, cache: string, folder: string): void {
  const work = makeTemporaryFolder(cache, '.unpack-');
  try {
    const draft = join(work, 'new');
    for (const path of ['', ...packed.folders]) mkdirSync(join(draft, path), { mode: 0o700 });
    for (const { path, executable } of packed.files)
      writeFileSync(join(draft, path), packed.content(path), { mode: executable ? 0o700 : 0o600, flag: 'wx' });
    // Another process that has started meanwhile may use it.
    if (problemOf(packed, folder) === null) return;
    if (lstatSync(folder, { throwIfNoEntry: false }) !== undefined) renameSync(folder, join(work, 'old'));
    renameSync(draft, folder);
  } catch (error) {
    // That process was faster between these lines.
    if (problemOf(packed, folder) !== null) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function recordedIn(parent: Folder, name: string): string | null {
  try {
    const file = parent.openToRead(name);
    try {
      return readFileSync(file, 'utf8');
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}

/** If it cannot be written, as on a full disk, the next start compares the hashes again. */
function keep(parent: Folder, name: string, text: string): void {
  try {
    parent.replace(name, text, 0o600);
  } catch {
    // The unpacked package is whole.
  }
}
