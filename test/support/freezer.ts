/** A control group whose processes get no processor until it is thawed: their signals wait. */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface Freezer {
  freeze(pid: number): void;
  /** It also sends the process back to where others are, and removes the group. */
  thaw(pid: number): void;
}

/** null: this user may not make one, or the kernel has none. */
export function freezer(): Freezer | null {
  const isOld = existsSync('/sys/fs/cgroup/freezer');
  const folder = join('/sys/fs/cgroup', isOld ? 'freezer' : '', `umaprobe-test-${process.pid}`);
  try {
    mkdirSync(folder);
  } catch {
    return null;
  }
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  return {
    freeze(pid) {
      write('cgroup.procs', String(pid));
      if (isOld) write('freezer.state', 'FROZEN');
      else write('cgroup.freeze', '1');
    },
    thaw(pid) {
      if (isOld) write('freezer.state', 'THAWED');
      else write('cgroup.freeze', '0');
      writeFileSync(join(dirname(folder), 'cgroup.procs'), String(pid));
      rmdirSync(folder);
    },
  };
}
