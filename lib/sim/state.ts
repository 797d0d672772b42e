/** The private folder of a simulated machine, and the removal of folders whose process has ended. */

import { accessSync, constants, lstatSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { debuglog } from 'node:util';
import { checkFolder, makeTemporaryFolder } from '../base/folder.ts';
import { pidExists, pidNamespace } from '../core/host/process.ts';
import { machineError } from './machine.ts';

const log = debuglog('umaprobe');

const PREFIX = 'umaprobe-sim';

/** Creates a folder for this user only, named after this process. */
export function createStateFolder(): string {
  const parent = runtimeFolder();
  try {
    // It refuses a parent in which another user may replace files.
    const folder = makeTemporaryFolder(parent, `${PREFIX}-${namespaceNumber()}-${process.pid}-`);
    removeStale(parent);
    return folder;
  } catch (cause) {
    const { code = 'UNKNOWN' } = cause as NodeJS.ErrnoException;
    const message = `a simulated machine needs a folder for its files, and none can be made in ${parent} (${code}): set TMPDIR or XDG_RUNTIME_DIR to a folder that this user may write`;
    throw machineError(message);
  }
}

/** A folder that cannot be removed, as without free descriptors, is left to the next machine, which removes stale ones. */
export function removeStateFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    log('%s stays: %s', folder, (error as Error).message);
  }
}

/** XDG_RUNTIME_DIR, which is private and in memory; else the folder for temporary files. sudo -E leaves that of another user. */
function runtimeFolder(): string {
  const runtime = process.env.XDG_RUNTIME_DIR;
  if (runtime === undefined || !isAbsolute(runtime)) return tmpdir();
  try {
    accessSync(runtime, constants.W_OK | constants.X_OK);
    checkFolder(runtime, 'own');
    return runtime;
  } catch {
    return tmpdir();
  }
}

/** Part of the folder name, because a pid is valid in its PID namespace only: /tmp may be shared with a container. */
function namespaceNumber(): string {
  return /\d+/.exec(pidNamespace() ?? '')?.[0] ?? '0';
}

/** Removes folders of processes that were killed before they could do so. */
function removeStale(parent: string): void {
  const pattern = new RegExp(`^${PREFIX}-${namespaceNumber()}-(\\d+)-`);
  for (const name of readdirSync(parent)) {
    const pid = Number(pattern.exec(name)?.[1]);
    if (!Number.isSafeInteger(pid) || pid <= 0 || pidExists(pid)) continue;
    const folder = join(parent, name);
    try {
      const stat = lstatSync(folder);
      if (stat.isDirectory() && stat.uid === process.getuid?.()) removeStateFolder(folder);
    } catch {
      // Another process has removed it already.
    }
  }
}
