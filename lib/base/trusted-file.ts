/** A file that decides what this process does to others. */

import { basename, dirname } from 'node:path';
import { Folder } from './folder.ts';
import { asPathError, pathError, readAtMost } from './named-path.ts';
import { Refusal } from './trusted-folder.ts';

/**
 * The text of a regular file of at most `most` bytes. No link to it is followed, and no other user leads root to it or
 * writes it, but the owner of its folder.
 *
 * @param what whose path it is: "--policy".
 * @throws UmaError ERR_UMA_PATH, ERR_UMA_PERMISSION.
 */
export function readTrustedFile(what: string, path: string, most: number): string {
  let folder: Folder | undefined;
  try {
    folder = Folder.open(dirname(path), 'asked');
    return readAtMost(what, path, folder.openToRead(basename(path)), most);
  } catch (error) {
    throw error instanceof Refusal ? pathError(what, path, error.code, error.message) : asPathError(what, path, error);
  } finally {
    folder?.close();
  }
}
