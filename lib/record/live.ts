/** Who records in a folder: the lock of the recorder names its process. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, type ProcessId, thisProcess } from '../host/process.ts';

/** Writes this process into the lock, which the addon holds. */
export function signLock(folder: string): void {
  writeFileSync(join(folder, 'lock'), `${JSON.stringify(thisProcess())}\n`);
}

/** Whether the process in the lock still runs. */
export function isRecording(folder: string): boolean {
  try {
    return isAlive(JSON.parse(readFileSync(join(folder, 'lock'), 'utf8')) as ProcessId);
  } catch {
    return false;
  }
}

/** Empties the lock: this process no longer records. */
export function clearLock(folder: string): void {
  try {
    writeFileSync(join(folder, 'lock'), '');
  } catch {}
}
