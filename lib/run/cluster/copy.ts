/**
 * The standalone file of umaprobe on another machine: in the cache folder of its user, for that user only (0700), under a
 * name with its SHA-256, which is compared with the file at each call.
 */

import { createHash } from 'node:crypto';
import { closeSync, fstatSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import { clean, formatDuration, MiB } from '../../base/format.ts';
import { openNamedFile } from '../../base/named-path.ts';
import { remoteWord } from './shell.ts';
import { runBySsh } from './ssh.ts';

/** The file on this machine. */
export interface Copy {
  path: string;
  name: string;
  bytes: number;
  sha256: string;
}

/** Exit code of the script: the file is not there, or is another one. No program of a shell or of umaprobe ends so. */
export const NOT_THERE = 93;

/** 130 MB over a slow line. */
const COPY_MS = 600_000;

export function readCopy(path: string): Copy {
  const file = openNamedFile('copy', path);
  try {
    const hash = createHash('sha256');
    const piece = Buffer.allocUnsafe(MiB);
    for (let bytes = readSync(file, piece); bytes > 0; bytes = readSync(file, piece))
      hash.update(piece.subarray(0, bytes));
    return { path, name: basename(path), bytes: fstatSync(file).size, sha256: hash.digest('hex') };
  } finally {
    closeSync(file);
  }
}

/** Both scripts are for /bin/sh, whatever the login shell is, and have no word of a caller in them. */
const FOLDER = 'd="$' + '{XDG_CACHE_HOME:-$HOME/.cache}/umaprobe"';
const isFile = (path: string, sha256: string): string => `[ "$(sha256sum < "${path}")" = "${sha256}  -" ]`;

function script(lines: readonly string[]): string {
  return `exec sh -c ${remoteWord(lines.join('; '))}`;
}

/** Runs the file if it is there and whole. */
export function copyLine({ sha256 }: Copy): string {
  return script([
    FOLDER,
    `f="$d/umaprobe-${sha256.slice(0, 16)}"`,
    `[ -f "$f" ] && [ ! -L "$f" ] && [ -O "$f" ] && ${isFile('$f', sha256)} || exit ${NOT_THERE}`,
    'exec "$f" snapshot --json',
  ]);
}

/** Puts stdin there, and gives it the name when it is whole. */
function putLine({ sha256 }: Copy): string {
  return script([
    'set -eu',
    'umask 077',
    FOLDER,
    'mkdir -p "$d"',
    'chmod 700 "$d"',
    't="$(mktemp "$d/.copy-XXXXXX")"',
    `if cat > "$t" && ${isFile('$t', sha256)} && chmod 700 "$t"`,
    `then mv -f "$t" "$d/umaprobe-${sha256.slice(0, 16)}"`,
    'else rm -f "$t"; echo "what arrived is not the file that was sent" >&2; exit 1; fi',
  ]);
}

/** @returns why it is not there, as a clause; null: it is. */
export async function putFile(host: string, copy: Copy, signal: AbortSignal | undefined): Promise<string | null> {
  const file = openNamedFile('copy', copy.path);
  try {
    const end = await runBySsh(host, putLine(copy), {
      deadlineMs: COPY_MS,
      signal,
      onText: () => undefined,
      stdin: file,
    });
    if (end.how === 'exited' && end.code === 0) return null;
    if (end.how === 'timeout') return `it took longer than ${formatDuration(COPY_MS)}`;
    return clean(end.stderr).trim().slice(-300) || `the copy ended with exit code ${end.code ?? 'unknown'}`;
  } finally {
    closeSync(file);
  }
}
