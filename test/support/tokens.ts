/** Tokens of `serve` in private files. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readToken, type TokenDigest } from '../../lib/serve/token.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** A file with this text and mode. */
export function tokenFile(text: string, mode = 0o600): string {
  const path = join(temporaryFolder('token'), 'token');
  writeFileSync(path, text, { mode });
  return path;
}

export function temporaryToken(): { digest: TokenDigest; path: string; token: string } {
  const token = 'correct-horse-battery-staple';
  const path = tokenFile(`${token}\n`);
  return { digest: readToken(path), path, token };
}
