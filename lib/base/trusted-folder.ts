/** Opens the folder of a file that will be written. Root looks at the whole way to it: no other user may lead root elsewhere. */

import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  type Stats,
} from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { systemText } from './system-file.ts';

const { O_DIRECTORY, O_NOFOLLOW } = constants;

/** Missing in Node's table; the same number on x64 and arm64. */
const O_PATH = 0o10000000;

/** Links followed and folders made on the way: the kernel's own limit for links. */
const MOST_TURNS = 40;

/** Owner that a user namespace shows for files that no user of it owns, as / in a container without root. */
const UNMAPPED = 65_534;

/** A file or folder that is there, and is not used. */
export class Refusal extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Places where root writes; other users write where the kernel lets them.
 * `asked`: a file that was asked for, also in the folder of another user, if the whole way into it is that user's.
 * `own`: a folder of root, in which no other user replaces a file: others may not write it, or it is as /tmp is.
 * `private`: a folder of root that nobody else may write.
 */
export type Trust = 'asked' | 'own' | 'private';

/**
 * A descriptor of the folder (O_PATH). `own` and `private` make what is missing, for this user only (0700); `private` follows
 * no link to the folder itself.
 */
export function openFolder(path: string, trust: Trust): number {
  if (!existsSync('/proc/self/fd'))
    throw new Refusal('NO_PROC', 'files are written through /proc/self/fd, which is not there: mount /proc');
  if (process.geteuid?.() === 0) return openAsRoot(isAbsolute(path) ? path : `${process.cwd()}/${path}`, trust);
  if (trust !== 'asked') makePrivateFolder(path);
  return openSync(path, O_PATH | O_DIRECTORY | (trust === 'private' ? O_NOFOLLOW : 0));
}

/** Folder by folder: recursive mkdirSync loops for ever if the system answers ENOENT for a new name, as /proc does. */
function makePrivateFolder(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return;
  makePrivateFolder(dirname(path));
  makeFolder(path);
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // another process was faster
  }
}

/** An open folder on the way. */
interface OpenFolder {
  path: string;
  fd: number;
  stat: Stats;
}

function openAsRoot(path: string, trust: Trust): number {
  const way = new Way(path, trust);
  try {
    return way.toEnd();
  } catch (error) {
    closeSync(way.here.fd);
    throw error;
  }
}

/** Walks from folder to folder, and looks at each before it looks up a name in it. */
class Way {
  here: OpenFolder = step('/', '/');
  readonly #trust: Trust;
  /** Names from `here` on. */
  #names: string[];
  /** Links followed and folders made. */
  #turns = 0;

  constructor(path: string, trust: Trust) {
    this.#names = namesOf(path);
    this.#trust = trust;
  }

  toEnd(): number {
    for (let [name] = this.#names; name !== undefined; [name] = this.#names) {
      checkNames(this.here);
      const inside = `/proc/self/fd/${this.here.fd}/${name}`;
      const full = join(this.here.path, name);
      const next = folderAt(inside, full);
      if (next === null) this.#noFolder(inside, full);
      else {
        const before = this.here;
        this.#goTo(next);
        checkStep(before, next);
        this.#names.shift();
      }
    }
    if (this.#trust !== 'asked') checkOwn(this.here, this.#trust);
    return this.here.fd;
  }

  #goTo(next: OpenFolder): void {
    closeSync(this.here.fd);
    this.here = next;
  }

  /** Follows a link of root's, and makes what is missing. */
  #noFolder(inside: string, full: string): void {
    if (++this.#turns > MOST_TURNS) throw systemError('ELOOP', full);
    const stat = lstatSync(inside, { throwIfNoEntry: false });
    if (stat === undefined && this.#trust === 'asked') throw systemError('ENOENT', full);
    checkRoots(this.here);
    if (stat === undefined) {
      makeFolder(inside);
      return;
    }
    // Another process has made it since.
    if (stat.isDirectory()) return;
    const isEnd = this.#trust === 'private' && this.#names.length === 1;
    if (!stat.isSymbolicLink() || isEnd) throw systemError('ENOTDIR', full);
    checkRoots({ path: full, stat });
    const target = readlinkSync(inside);
    this.#names.splice(0, 1, ...namesOf(target));
    if (target.startsWith('/')) this.#goTo(step('/', '/'));
  }
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

function step(at: string, path: string): OpenFolder {
  const fd = openSync(at, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  return { path, fd, stat: fstatSync(fd) };
}

/** null: it is a link, no folder, or missing. */
function folderAt(at: string, path: string): OpenFolder | null {
  try {
    return step(at, path);
  } catch (error) {
    if (['ELOOP', 'ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}

function isRoots({ uid }: Stats): boolean {
  return uid === 0 || (uid === UNMAPPED && isUnmapped(uid));
}

/** True if this process is in a user namespace without a user of that id: such a file is another namespace's. */
function isUnmapped(uid: number): boolean {
  const ranges = systemText('/proc/self/uid_map').trim().split('\n').filter(Boolean);
  return (
    ranges.length > 0 &&
    !ranges.some((range) => {
      const [first = 0, , count = 0] = range.trim().split(/\s+/).map(Number);
      return uid >= first && uid < first + count;
    })
  );
}

const STICKY = 0o1000;
const GROUP_OR_OTHERS_WRITE = 0o022;
const OTHERS_WRITE = 0o002;

/** Every user may replace what lies in a folder that all may write, unless it is sticky. */
export function checkNames({ path, stat }: Pick<OpenFolder, 'path' | 'stat'>): void {
  if ((stat.mode & OTHERS_WRITE) === 0 || (stat.mode & STICKY) !== 0) return;
  throw new Refusal('SHARED_FOLDER', `every user may replace what is in ${described(path, stat)}; ${REMEDY}`);
}

/** A file in another user's folder must be that user's, who must not choose a folder of others. */
function checkStep(before: OpenFolder, { path, stat }: OpenFolder): void {
  if (isRoots(before.stat) || stat.uid === before.stat.uid) return;
  throw new Refusal('FOREIGN_FOLDER', `${described(path, stat)} is in a folder of uid ${before.stat.uid}; ${REMEDY}`);
}

function checkRoots({ path, stat }: Pick<OpenFolder, 'path' | 'stat'>): void {
  if (isRoots(stat)) return;
  throw new Refusal('FOREIGN_FOLDER', `${described(path, stat)} is another user's; ${REMEDY}`);
}

function checkOwn(folder: OpenFolder, trust: Trust): void {
  checkRoots(folder);
  const { path, stat } = folder;
  if ((stat.mode & GROUP_OR_OTHERS_WRITE) === 0) return;
  if (trust === 'own' && (stat.mode & STICKY) !== 0) return;
  throw new Refusal('SHARED_FOLDER', `others may write ${described(path, stat)}; ${REMEDY}`);
}

const REMEDY = 'root writes where no other user decides what is written: use a folder of root, or run as that user';

/** "/home/ada (uid 1000, mode 0755)". */
function described(path: string, { mode, uid }: Stats): string {
  return `${path} (uid ${uid}, mode 0${(mode & 0o7777).toString(8)})`;
}

export function systemError(code: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${path}`), { code, syscall: 'open', path });
}
