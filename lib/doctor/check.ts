/** A check: its context, its finding, and the report of all checks. */

import type { Snapshot } from '../types/index.ts';

export type CheckStatus = 'pass' | 'warn' | 'fail' | 'skip';

/** What a check found. */
export interface Finding {
  status: CheckStatus;
  /** Meaning of the finding, in one or two sentences. */
  cause: string;
  /** The numbers and files behind it. */
  evidence: string;
  /** What to do; null: nothing. */
  remedy: string | null;
}

export interface CheckResult extends Finding {
  /** Stable: scripts may rely on it. */
  id: string;
  title: string;
  /** Time from the start of the reading that the check needs to its finding, in milliseconds. */
  durationMs: number;
}

export interface DoctorReport {
  schema: 'umaprobe/doctor/1';
  /** Time at which the kernel was read, ISO 8601, UTC. */
  at: string;
  /** Name of the simulated machine; null on real hardware. */
  simulated: string | null;
  summary: Record<CheckStatus, number>;
  checks: CheckResult[];
}

/**
 * A reading that a check needs besides the kernel's files, which are always read. `context`: cudaMemGetInfo, for which
 * a child process creates a CUDA context. A reading that no chosen check needs is not waited for.
 */
export type Need = 'cuda' | 'nvml' | 'context';

/** All inputs of a check. It reads nothing else, so that a test can define the machine. */
export interface CheckContext {
  /** With the readings that the check needs; others may be missing. */
  snapshot: Snapshot;
  /** Text of a file in /proc or /sys, of the real or the simulated kernel; null: not readable. */
  readKernelFile(path: string): string | null;
  /** Names in a directory of the real file system; null: not readable. */
  listFiles(path: string): Promise<string[] | null>;
  /** Target of a link of the real file system; null: not readable. */
  readLink(path: string): Promise<string | null>;
  /** Whether this process may read or write a file of the real file system, by access(2). */
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
