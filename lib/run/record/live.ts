/** The process that records in a folder: the lock of the recorder names its process. */

import { closeSync, constants, ftruncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Folder } from '../../base/folder.ts';
import { readNamedFile } from '../../base/named-path.ts';
import { isAlive, type ProcessId, thisProcess } from '../../core/host/process.ts';
import { folderError, openRecordFolder } from './folder.ts';

const LOCK = 'lock';
/** Bytes of a lock: the id of a process. */
const MAX_LOCK = 1024;

/** The folder of a recorder and its lock, open; both are made for this user only. A link to the folder is not followed. */
export class RecorderFolder {
  readonly folder: Folder;
  /** Descriptor of the lock, which the addon takes. */
  readonly lock: number;

  private constructor(folder: Folder, lock: number) {
    this.folder = folder;
    this.lock = lock;
  }

  /** @throws UmaError `ERR_UMA_JOURNAL`: the folder or its lock cannot be used. */
  static open(path: string): RecorderFolder {
    const folder = openRecordFolder(path);
    try {
      return new RecorderFolder(folder, folder.openFile(LOCK, constants.O_RDWR | constants.O_CREAT));
    } catch (cause) {
      folder.close();
      throw folderError(join(path, LOCK), cause);
    }
  }

  /** Writes this process into the lock, which the addon holds. */
  sign(): void {
    ftruncateSync(this.lock, 0);
    writeSync(this.lock, `${JSON.stringify(thisProcess())}\n`, 0);
  }

  /** The addon has emptied the lock. */
  close(): void {
    closeSync(this.lock);
    this.folder.close();
  }
}

/** True while the process in the lock runs. */
export function isRecording(folder: string): boolean {
  try {
    return isAlive(JSON.parse(readNamedFile('lock', join(folder, LOCK), MAX_LOCK)) as ProcessId);
  } catch {
    return false;
  }
}
