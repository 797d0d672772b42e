/** A check: its readings, its context and its finding. */

import { capitalized } from '../base/format.ts';
import type { HealthVerdict } from '../memory/verdict.ts';
import type { Finding, Snapshot } from '../types/index.ts';

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
  readKernelFile(path: string): Promise<string | null>;
  /** Names of all running processes, `/proc/<pid>/comm`; null: not readable. */
  processNames(): Promise<ReadonlySet<string> | null>;
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

/** The answer to a verdict of memory/: a danger fails, a warning warns, and a notice passes with its sentence. */
export function finding({ level, next, text }: HealthVerdict, evidence: string): Finding {
  const remedy = next === null ? null : `${capitalized(next)}.`;
  if (level === 'danger') return fail(text, evidence, remedy);
  return level === 'warning' ? warn(text, evidence, remedy) : pass(text, evidence);
}
