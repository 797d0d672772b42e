/** The options of guard() once they are checked. */

import type { GuardEvent, GuardOptions, GuardTarget, LoadAction } from '../../types/index.ts';

export interface CheckedGuardOptions {
  /** null: a target is watched. */
  command: readonly [file: string, ...args: string[]] | null;
  target: GuardTarget | null;
  cwd: string | undefined;
  env: GuardOptions['env'];
  stdio: 'inherit' | 'stderr' | 'pipe';
  floorBytes: number | undefined;
  killBelowBytes: number | undefined;
  intervalMs: number;
  graceMs: number;
  /** null: those that this process may do. */
  loadActions: readonly LoadAction[] | null;
  loadBytes: number | undefined;
  ready: string | null;
  notify: readonly [file: string, ...args: string[]] | null;
  keepPriority: boolean;
  keepFreeBytes: number | undefined;
  dryRun: boolean;
  forwardSignals: boolean;
  onEvent: (event: GuardEvent) => void;
  signal: AbortSignal | undefined;
}
