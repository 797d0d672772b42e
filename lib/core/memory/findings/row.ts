/** A row of the table of findings: its needs, its finding, and the sources of its numbers. */

import { clean, formatBytes } from '../../../base/format.ts';
import type {
  Evidence,
  Finding,
  HostMemory,
  LoadEffect,
  ProcessesReport,
  Reading,
  Remedy,
  Severity,
  Snapshot,
} from '../../../types/index.ts';
import { MEMINFO, MEMINFO_KEYS } from '../../../types/meminfo.ts';

/** Everything that rows look at. An absent fact was not read: rows that need it are not judged. */
export interface Facts {
  snapshot: Reading | Snapshot;
  processes?: ProcessesReport | null;
  /** Names of all running programs, `/proc/<pid>/comm`. */
  programs?: ReadonlySet<string> | null;
  /** Recent swap traffic in both directions, bytes per second. */
  swapBytesPerSecond?: number | null;
  access?: Access;
  /** Text of the parameter uvm_global_oversubscription of nvidia_uvm. */
  oversubscription?: string | null;
  readiness?: Readiness;
}

/** Other needs of a program that spans machines (lib/core/host/readiness.ts). null: unknown, and `from` says why. */
export interface Readiness {
  /** RDMA ports with a link, such as "rocep1s0f0/1". */
  linkedPorts: readonly string[] | null;
  /** Bytes that this process may lock; Infinity: any amount. */
  lockable: number | null;
  /** Size of /dev/shm, in bytes; `half`: of memory, which is a tmpfs' default. */
  sharedMemory: number | 'half' | null;
  from: Readonly<Record<'linkedPorts' | 'lockable' | 'sharedMemory', string>>;
}

/** Files that this process may open, by access(2). */
export interface Access {
  /** /dev/nvidia* that exist, and those of them that this user may not open. */
  nodes: readonly string[];
  closed: readonly string[];
  /** Kernel settings by name, and whether this process may use them. */
  settings: Readonly<Record<string, boolean>>;
}

/**
 * Needs of a row besides the kernel's files, which are always read. `context`: cudaMemGetInfo, for which a CUDA context
 * is created. The others are facts of their own.
 */
export type Need = 'cuda' | 'nvml' | 'context' | Exclude<keyof Facts, 'snapshot'>;

/** Makes evidence when it is asked for: only doctor shows that of rows that do not apply. */
export type MakeEvidence = () => Evidence[];

/** Result of a row. `unknown`: it could not be judged; `matters`: no machine is called fine without it. */
export type RowOutcome =
  | { state: 'passed'; summary: string; evidence: MakeEvidence }
  | { state: 'applies'; finding: Omit<Finding, 'id'> }
  | { state: 'unknown'; why: string; evidence: MakeEvidence; matters: boolean };

export interface Row {
  needs: readonly Need[];
  judge(facts: Facts): RowOutcome;
}

const none: MakeEvidence = () => [];

export function passed(summary: string, evidence = none): RowOutcome {
  return { state: 'passed', summary, evidence };
}

/** @param why a clause: "this kernel does not report it". */
export function unknown(why: string, evidence = none, { matters = false } = {}): RowOutcome {
  return { state: 'unknown', why, evidence, matters };
}

/** A counter of /proc/meminfo that this kernel does not report, or that cannot be read. */
export function unknownCounter(snapshot: Reading, field: keyof HostMemory): RowOutcome {
  const why = snapshot.from[`host.${field}`];
  return unknown(`${MEMINFO_KEYS[field]} is not known${why === undefined ? '' : ` (${clean(why)})`}`);
}

export const NOTHING: LoadEffect = { does: 'nothing' };
export const REFUSES: LoadEffect = { does: 'refuses' };
export const UNKNOWN_EFFECT: LoadEffect = { does: 'unknown' };
export const takes = (bytes: number): LoadEffect => ({ does: 'takes', bytes });

/** A finding; fields that are left out have the usual value: no effect, no amount, no cause, nothing to do. */
export function applies(
  finding: { severity: Severity; summary: string; evidence: MakeEvidence } & Partial<
    Pick<Finding, 'bytes' | 'cause' | 'effect' | 'normal' | 'remedy'>
  >,
): RowOutcome {
  const usual = { bytes: null, cause: null, effect: NOTHING, normal: false, remedy: null };
  return { state: 'applies', finding: { ...usual, ...finding, evidence: finding.evidence() } };
}

/** A remedy without a command. */
export function advice(text: string, more: Partial<Omit<Remedy, 'text'>> = {}): Remedy {
  return { text, command: null, needsRoot: false, gains: null, ...more };
}

/** A remedy whose command is what to paste; `before` leads to it: "write them first". */
export function command(before: string, line: string, more: Partial<Omit<Remedy, 'text' | 'command'>> = {}): Remedy {
  return { text: before === '' ? line : `${before}: ${line}`, command: line, needsRoot: false, gains: null, ...more };
}

/** A counter of /proc/meminfo, under the kernel's name for it. Left out where the kernel lacks it. */
export function meminfo(snapshot: Reading, ...fields: readonly (keyof HostMemory)[]): Evidence[] {
  return fields.flatMap((field) => {
    const value = snapshot.host[field];
    if (value === null) return [];
    const unit = field === 'hugePagesTotal' || field === 'hugePagesFree' ? 'count' : 'bytes';
    return [{ name: MEMINFO_KEYS[field], value, unit, from: snapshot.from.host ?? MEMINFO }];
  });
}

export function bytes(name: string, value: number, from: string): Evidence {
  return { name, value, unit: 'bytes', from };
}

/** A fact that is no number. */
export function text(name: string, value: string | null | undefined, from: string): Evidence[] {
  return value === null || value === undefined ? [] : [{ name, value, unit: 'text', from }];
}

export function count(name: string, value: number | null, from: string): Evidence[] {
  return value === null ? [] : [{ name, value, unit: 'count', from }];
}

/** Share of MemTotal from which a use of memory is worth a sentence: 6 GiB of a Spark, more than its idle desktop has of any. */
export const HOG_SHARE = 0.05;

/** "60.0 GiB of 119.7 GiB". */
export function ofTotal(part: number | null, total: number): string {
  return `${formatBytes(part)} of ${formatBytes(total)}`;
}
