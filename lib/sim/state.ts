/** The private folder in which a simulated machine lives, and the removal of those whose process is gone. */
import { accessSync, constants, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { pidExists, pidNamespace } from '../host/process.ts';

const PREFIX = 'umaprobe-sim';

/** A new folder that only this user can enter (mkdtemp makes it 0700), named after this process. */
export function createStateFolder(): string {
  const parent = runtimeFolder();
  removeStale(parent);
  return mkdtempSync(join(parent, `${PREFIX}-${namespaceNumber()}-${process.pid}-`));
}

export function removeStateFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** XDG_RUNTIME_DIR is the user's own and in memory; where there is none, the folder for temporary files. */
function runtimeFolder(): string {
  const runtime = process.env.XDG_RUNTIME_DIR;
  if (runtime === undefined || !isAbsolute(runtime)) return tmpdir();
  try {
    accessSync(runtime, constants.W_OK | constants.X_OK);
    return runtime;
  } catch {
    return tmpdir();
  }
}

/** A pid means something in its own PID namespace only: a container that shares /tmp must not look dead. */
function namespaceNumber(): string {
  return /\d+/.exec(pidNamespace() ?? '')?.[0] ?? '0';
}

/** Folders of processes that were killed before they could remove them. */
function removeStale(parent: string): void {
  const ours = new RegExp(`^${PREFIX}-${namespaceNumber()}-(\\d+)-`);
  for (const name of readdirSync(parent)) {
    const pid = Number(ours.exec(name)?.[1]);
    if (!Number.isSafeInteger(pid) || pid <= 0 || pidExists(pid)) continue;
    const folder = join(parent, name);
    try {
      const stat = lstatSync(folder);
      if (stat.isDirectory() && stat.uid === process.getuid?.()) removeStateFolder(folder);
    } catch {
      // Another process was faster; what it removes need not be removed here.
    }
  }
}
