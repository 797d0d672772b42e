/** Checks that a recording can be made, before it begins. */

import { accessSync, constants, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { formatBytes, KiB } from '../../base/format.ts';
import { segmentsIn } from './folder.ts';

/** The least that a recorder needs (kLeastSegment of native/run/record/segments.cc). */
const LEAST_BYTES = 256 * KiB;

/** The reason against recording in a folder that may not exist yet, as a clause; null: none known. Writes nothing. */
export function whyNotRecorded(folder: string): string | null {
  let existing = folder;
  try {
    existing = nearest(folder);
    accessSync(existing, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(existing);
    // Older recordings make room.
    const isFull = bavail * bsize < LEAST_BYTES && (existing !== folder || segmentsIn(folder).length === 0);
    return isFull ? `the disk of ${existing} is full, less than ${formatBytes(LEAST_BYTES)} are free` : null;
  } catch (error) {
    return `${existing} cannot be written (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`;
  }
}

/** The folder, or the first one above it that is there. */
function nearest(path: string): string {
  const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined;
  return isThere || dirname(path) === path ? path : nearest(dirname(path));
}
