/** The token that clients must send: read once from a private file, and kept and compared as its digest. */

import { createHash, timingSafeEqual } from 'node:crypto';
import { statSync } from 'node:fs';
import { pathError } from '../base/named-path.ts';
import { readTrustedFile } from '../base/trusted-file.ts';

/** Characters: fewer can be guessed, more is another file. */
const LENGTH = { min: 16, max: 512 };

const WHAT = 'token file';

export type TokenDigest = Uint8Array;

/** @throws UmaError ERR_UMA_PATH, ERR_UMA_PERMISSION. */
export function readToken(path: string): TokenDigest {
  const text = readTrustedFile(WHAT, path, LENGTH.max + 2).replace(/\r?\n$/, '');
  if ((statSync(path).mode & 0o077) !== 0)
    throw pathError(WHAT, path, 'EPERM', 'other users may read it: chmod 600 makes it private');
  if (!/^[\x21-\x7e]+$/.test(text) || text.length < LENGTH.min || text.length > LENGTH.max)
    throw pathError(
      WHAT,
      path,
      'EINVAL',
      `expected one line of ${LENGTH.min} to ${LENGTH.max} printable characters without spaces: openssl rand -hex 32 makes one`,
    );
  return digest(text);
}

/** True if an `Authorization` header has the token: as Bearer, or as the password of Basic, the browsers' dialog. */
export function isAuthorized(header: string | undefined, token: TokenDigest): boolean {
  const [, scheme = '', credentials = ''] = /^(bearer|basic) +(\S{1,2048}) *$/i.exec(header ?? '') ?? [];
  if (scheme.toLowerCase() === 'bearer') return isToken(credentials, token);
  if (scheme === '') return false;
  const pair = Buffer.from(credentials, 'base64').toString('utf8');
  return isToken(pair.slice(pair.indexOf(':') + 1), token);
}

/** Takes the same time for every text: digests have one length. */
function isToken(text: string, token: TokenDigest): boolean {
  return timingSafeEqual(digest(text), token);
}

function digest(text: string): TokenDigest {
  return createHash('sha256').update(text).digest();
}
