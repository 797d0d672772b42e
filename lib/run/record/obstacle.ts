/** Whether a recording can be made, before it begins. */

import { accessSync, constants, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { formatBytes, KiB } from '../../base/format.ts';
import { segmentsIn } from './folder.ts';

/** What a recorder needs at least (kLeastSegment of native/run/record/segments.cc). */
const LEAST_BYTES = 256 * KiB;

/** Why nothing can be recorded in a folder that may not be there yet, as a clause; null: nothing is known against it. Writes nothing. */
export function whyNotRecorded(folder: string): string | null {
  let existing = folder;
  try {
    existing = nearest(folder);
    accessSync(existing, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(existing);
    // What was recorded before makes room.
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
