/** Ways to make room while a program loads, if this process may do it. */

import { accessSync, constants } from 'node:fs';
import type { LoadAction } from '../../types/index.ts';

const FILES: Readonly<Record<LoadAction, string>> = {
  drop: '/proc/sys/vm/drop_caches',
  compact: '/proc/sys/vm/compact_memory',
};

/** @param simulated on a simulated machine the simulated kernel answers the write. */
export function permittedLoadActions(simulated: boolean): LoadAction[] {
  return (Object.keys(FILES) as LoadAction[]).filter((action) => simulated || isWritable(FILES[action]));
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
