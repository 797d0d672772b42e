/** Files of the kernel and the system, by paths that no ordinary user can give to another file. */

import { readFileSync } from 'node:fs';

type SystemPath = `/proc/${string}` | `/sys/${string}` | '/etc/passwd';

/** @throws the system's error. */
export function readSystemFile(path: SystemPath): string {
  return readFileSync(path, 'utf8');
}

/** "": it cannot be read, as of a process that has ended. */
export function systemText(path: SystemPath): string {
  try {
    return readSystemFile(path);
  } catch {
    return '';
  }
}
