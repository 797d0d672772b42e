/** The report of cluster(): the weakest machine first, and the bytes that can be loaded on each. */

import { formatBytes } from '../../base/format.ts';
import { differencesOf } from '../../core/memory/differences.ts';
import type { ClusterMachine, ClusterReport, HostDifference, Level } from '../../types/index.ts';

const LEVELS: readonly Level[] = ['ok', 'notice', 'warning', 'danger'];

/** The lowest come first: no answer, nothing known, then by the bytes that can be loaded. */
export function weakestFirst(machines: readonly ClusterMachine[]): ClusterMachine[] {
  const rank = ({ snapshot }: ClusterMachine): number =>
    snapshot === null ? -2 : (snapshot.judgement.safe.bytes ?? -1);
  const level = ({ snapshot }: ClusterMachine): number => LEVELS.indexOf(snapshot?.judgement.level ?? 'ok');
  return [...machines].sort((a, b) => rank(a) - rank(b) || level(b) - level(a));
}

export function clusterReport(read: readonly ClusterMachine[], durationMs: number): ClusterReport {
  const machines = weakestFirst(read);
  const judgements = machines.map(({ snapshot }) => snapshot?.judgement ?? null);
  const complete = judgements.filter((judgement) => judgement !== null);
  const isComplete = complete.length === machines.length;
  const amounts = complete.map(({ safe }) => safe.bytes);
  const safe = isComplete && !amounts.includes(null) ? Math.min(...amounts.map((bytes) => bytes ?? 0)) : null;
  const most = Math.max(...amounts.map((bytes) => bytes ?? 0));
  const limiting = safe !== null && safe === most ? null : (machines[0]?.host ?? null);
  return {
    schema: 'umaprobe/cluster/1',
    at: new Date().toISOString(),
    level: isComplete ? highest(complete.map(({ level }) => level)) : null,
    safe,
    limiting,
    summary: summaryOf(machines, safe, limiting),
    machines,
    differences: differencesAmong(machines),
    durationMs,
  };
}

/** Differences among the machines that answered. */
export function differencesAmong(machines: readonly ClusterMachine[]): HostDifference[] {
  return differencesOf(machines.flatMap(({ host, snapshot }) => (snapshot === null ? [] : [{ host, snapshot }])));
}

function highest(levels: readonly Level[]): Level {
  return LEVELS.findLast((level) => levels.includes(level)) ?? 'ok';
}

function summaryOf(machines: readonly ClusterMachine[], safe: number | null, limiting: string | null): string {
  const silent = unanswered(machines);
  if (silent !== null) return silent;
  const several = machines.length > 1;
  const weakest = machines[0]?.host;
  if (safe === null) return `How much can be loaded on ${weakest} is not known.`;
  if (safe === 0)
    return several ? `Nothing fits into all: ${weakest} can load nothing.` : `${weakest} can load nothing.`;
  if (!several) return `${formatBytes(safe)} can be loaded on ${weakest}.`;
  const by = limiting === null ? '' : `: ${limiting} has the least`;
  return `${formatBytes(safe)} can be loaded on each of ${machines.length} machines${by}.`;
}

/** Sentence that names the machines that did not answer; null: all did. */
export function unanswered(machines: readonly { host: string; state: ClusterMachine['state'] }[]): string | null {
  const silent = machines.filter(({ state }) => state !== 'answered').map(({ host }) => host);
  if (silent.length === 0) return null;
  const names =
    silent.length > 4 ? `${silent.slice(0, 3).join(', ')} and ${silent.length - 3} more` : silent.join(', ');
  return `${names} gave no usable answer; ${machines.length - silent.length} of ${machines.length} machines did.`;
}
