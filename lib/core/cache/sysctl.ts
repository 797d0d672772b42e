/** The two sysctls that umaprobe writes, and the commands that write them. */

import { systemProgram } from '../../base/system-program.ts';

export type Sysctl = { name: 'drop_caches'; level: 1 | 2 | 3 } | { name: 'compact_memory' };

export const SYSCTL_PATHS: Readonly<Record<Sysctl['name'], string>> = {
  drop_caches: '/proc/sys/vm/drop_caches',
  compact_memory: '/proc/sys/vm/compact_memory',
};

export function sysctlValue(sysctl: Sysctl): string {
  return String(sysctl.name === 'drop_caches' ? sysctl.level : 1);
}

/** "vm.drop_caches=3": the argument has the level, which lets a sudoers rule permit a single level. `tee` could not. */
export function sysctlAssignment(sysctl: Sysctl): string {
  return `vm.${sysctl.name}=${sysctlValue(sysctl)}`;
}

/** The absolute path of the sysctl program; null: not installed. */
export function findSysctl(isExecutable?: (path: string) => boolean): string | null {
  return systemProgram('sysctl', isExecutable);
}

/** The command for root. It does not need umaprobe, which may be installed for one user only. */
export function rootCommand(sysctl: Sysctl, program = findSysctl()): string {
  return `sudo ${program ?? 'sysctl'} ${sysctlAssignment(sysctl)}`;
}
