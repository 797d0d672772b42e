/** The two sysctls that umaprobe writes, and the commands that write them. */

import { executable } from './system.ts';

export type Sysctl = { name: 'drop_caches'; level: 1 | 2 | 3 } | { name: 'compact_memory' };

export const SYSCTL_PATHS: Readonly<Record<Sysctl['name'], string>> = {
  drop_caches: '/proc/sys/vm/drop_caches',
  compact_memory: '/proc/sys/vm/compact_memory',
};

/** Absolute paths of the sysctl program, in the order in which they are tried. */
export const SYSCTL_PROGRAMS = ['/usr/sbin/sysctl', '/sbin/sysctl', '/usr/bin/sysctl'] as const;

export function sysctlValue(sysctl: Sysctl): string {
  return String(sysctl.name === 'drop_caches' ? sysctl.level : 1);
}

/** "vm.drop_caches=3": the argument has the level, which lets a sudoers rule permit a single level. `tee` could not. */
export function sysctlAssignment(sysctl: Sysctl): string {
  return `vm.${sysctl.name}=${sysctlValue(sysctl)}`;
}

/** The absolute path of the sysctl program; null: not installed. */
export function findSysctl(isExecutable: (path: string) => boolean = executable): string | null {
  return SYSCTL_PROGRAMS.find(isExecutable) ?? null;
}

/** The command for root. It does not need umaprobe, which may be installed for one user only. */
export function rootCommand(sysctl: Sysctl, program = findSysctl()): string {
  return `sudo ${program ?? 'sysctl'} ${sysctlAssignment(sysctl)}`;
}
