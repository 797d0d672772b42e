/** What a check is given and what it answers. */
import type { Snapshot } from '../types/index.ts';

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
  /** From the start of the reading that it needs to its answer. */
  durationMs: number;
}

export interface DoctorReport {
  schema: 'umaprobe/doctor/1';
  /** When the kernel was read. ISO 8601, UTC. */
  at: string;
  /** Name of the simulated machine, or null on real hardware. */
  simulated: string | null;
  summary: Record<CheckStatus, number>;
  checks: CheckResult[];
}

/**
 * What a check needs beyond the kernel's files, which are always read. `context`: cudaMemGetInfo, for which a child
 * process creates a CUDA context. What no chosen check needs is not waited for.
 */
export type Need = 'cuda' | 'nvml' | 'context';

/** Everything that a check may look at: nothing is read behind its back, so that a test can say what the machine is. */
export interface CheckContext {
  /** Of CUDA and NVML only as much as the check says that it needs. */
  snapshot: Snapshot;
  /** Text of a file of /proc or /sys (of the simulated kernel, where there is one); null: not readable. */
  readKernelFile(path: string): string | null;
  /** Names in a directory of the real file system; null: not readable. */
  listFiles(path: string): Promise<string[] | null>;
  /** Where a link of the real file system leads; null: not readable. */
  readLink(path: string): Promise<string | null>;
  /** Whether this process may read or write a file of the real file system: access(2), not a guess from the user id. */
  mayUse(path: string, mode: 'read' | 'write'): Promise<boolean>;
}

export interface Check {
  id: string;
  title: string;
  needs: readonly Need[];
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
