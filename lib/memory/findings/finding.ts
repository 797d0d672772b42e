/** A finding, and the sources of its numbers. */

import type { Evidence, HostMemory, MemoryFinding, ProcessesReport, Snapshot } from '../../types/index.ts';
import type { HealthVerdict } from '../verdict.ts';

export interface FindingFacts {
  snapshot: Snapshot;
  /** null: not read; findings that need it are left out. */
  processes: ProcessesReport | null;
}

/** A row of the table. null: it does not apply, or what it needs is not known. */
export type FindingRule = (facts: FindingFacts) => MemoryFinding | null;

/** The remedy of a finding that is over, or normal. */
export const NOTHING_TO_DO = 'nothing to do';

/** The same as a rule of the verdict (health.ts). */
export function verdictOf(rule: FindingRule): (snapshot: Snapshot) => HealthVerdict | null {
  return (snapshot) => {
    const finding = rule({ snapshot, processes: null });
    if (finding === null) return null;
    const { remedy, severity, summary } = finding;
    return { level: severity, text: summary, next: remedy.text === NOTHING_TO_DO ? null : remedy.text };
  };
}

/** A counter of /proc/meminfo, under the kernel's name for it. Left out where the kernel lacks it. */
export function meminfo(snapshot: Snapshot, ...counters: readonly (readonly [keyof HostMemory, string])[]): Evidence[] {
  return counters.flatMap(([field, name]) => {
    const value = snapshot.host[field];
    return value === null ? [] : [{ name, value, unit: 'bytes', from: snapshot.from.host ?? '/proc/meminfo' }];
  });
}

export function bytes(name: string, value: number, from: string): Evidence {
  return { name, value, unit: 'bytes', from };
}

/** Share of MemTotal from which a use of memory is worth a sentence: 6 GiB of a Spark, more than its idle desktop has of any. */
export const HOG_SHARE = 0.05;
