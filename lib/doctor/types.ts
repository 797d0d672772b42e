/** What a check is given and what it answers. */
import type { Snapshot } from '../types.ts';

export type CheckStatus = 'pass' | 'warn' | 'fail' | 'skip';

/** What a check found. */
export interface Finding {
  status: CheckStatus;
  /** What it means, in one sentence. */
  cause: string;
  /** The numbers and files that say so. */
  evidence: string;
  /** What to do; null where there is nothing to do. */
  remedy: string | null;
}

export interface CheckResult extends Finding {
  /** Stable: scripts may rely on it. */
  id: string;
  title: string;
  durationMs: number;
}

export interface DoctorReport {
  schema: 'umaprobe/doctor/1';
  /** ISO 8601, UTC. */
  at: string;
  /** Name of the simulated machine, or null on real hardware. */
  simulated: string | null;
  summary: Record<CheckStatus, number>;
  checks: CheckResult[];
}

/** Everything that a check may look at: nothing is read behind its back, so that a test can say what the machine is. */
export interface CheckContext {
  snapshot: Snapshot;
  /** Text of a file of /proc or /sys (of the simulated kernel, where there is one); null: not readable. */
  readKernelFile(path: string): string | null;
  /** Names in a directory of the real file system; null: not readable. */
  listFiles(path: string): Promise<string[] | null>;
  /** Whether this process may read and write a file of the real file system. */
  mayUse(path: string, mode: 'read' | 'write'): Promise<boolean>;
  /** Effective user. */
  isRoot: boolean;
  env: NodeJS.ProcessEnv;
}

export interface Check {
  id: string;
  title: string;
  run(context: CheckContext): Finding | Promise<Finding>;
}

export function pass(cause: string, evidence: string): Finding {
  return { status: 'pass', cause, evidence, remedy: null };
}

export function skip(cause: string, evidence: string, remedy: string | null = null): Finding {
  return { status: 'skip', cause, evidence, remedy };
}

export function warn(cause: string, evidence: string, remedy: string | null): Finding {
  return { status: 'warn', cause, evidence, remedy };
}

export function fail(cause: string, evidence: string, remedy: string | null): Finding {
  return { status: 'fail', cause, evidence, remedy };
}
