/** Whether a need fits into each machine: fit() on each snapshot, of which the worst answer is that of all. */

import { checkKeys, type Keys } from '../../base/arguments.ts';
import { formatBytes } from '../../base/format.ts';
import { openModel } from '../../models/estimate/index.ts';
import { assertFit, fitWithEstimate } from '../../models/fit/index.ts';
import type {
  ClusterCheck,
  ClusterMachine,
  ClusterRank,
  EstimateReport,
  FitNeed,
  FitOptions,
  FitReport,
  FitVerdict,
} from '../../types/index.ts';
import { CLUSTER, type ClusterOptions } from './options.ts';
import { differencesAmong, unanswered, weakestFirst } from './report.ts';

export type CheckOptions = Omit<FitOptions, 'solve' | 'acceptTight' | 'signal'>;

const FIT_KEYS: Keys<CheckOptions> = {
  program: true,
  programVersion: true,
  utilization: true,
  device: true,
  llama: true,
};

/** The options of reading machines, and those of fit(). */
export function splitOptions(options: ClusterOptions & CheckOptions): { asked: ClusterOptions; fitting: FitOptions } {
  checkKeys('clusterCheck()', options, { ...CLUSTER, ...FIT_KEYS } as Record<never, true>);
  const those = (keys: object) => Object.fromEntries(Object.entries(options).filter(([key]) => key in keys));
  const { signal } = options;
  return { asked: those(CLUSTER), fitting: { ...those(FIT_KEYS), ...(signal === undefined ? {} : { signal }) } };
}

/** Ranks that a model is divided among. */
export function ranksOf(need: FitNeed): number {
  const use = typeof need === 'object' && need !== null && 'model' in need && !('total' in need) ? need.use : undefined;
  return (use?.tensorParallel ?? 1) * (use?.pipelineParallel ?? 1);
}

/** The need with its model read, once for all machines and before any is asked: a mistake is known at once. */
export async function openedNeed(need: FitNeed, options: FitOptions): Promise<FitNeed> {
  await assertFit(need, options);
  if (!('model' in need) || 'total' in need) return need;
  const { signal } = options;
  return { ...need, model: await openModel(need.model, signal === undefined ? {} : { signal }) };
}

/** From the worst to the best, as fit() ranks them; a machine without an answer is one that nothing is known of. */
const ORDER: readonly FitVerdict[] = ['no', 'not-now', 'unknown', 'tight', 'fits-after', 'fits'];

interface Fitted {
  machine: ClusterMachine;
  report: FitReport | null;
  estimated: EstimateReport | null;
}

export async function checkOf({
  machines,
  need,
  options,
  started,
}: {
  machines: readonly ClusterMachine[];
  need: FitNeed;
  options: FitOptions;
  started: number;
}): Promise<ClusterCheck> {
  const fitted: Fitted[] = [];
  for (const machine of weakestFirst(machines)) {
    const { estimated, report } =
      machine.snapshot === null
        ? { estimated: null, report: null }
        : await fitWithEstimate(need, machine.snapshot, options);
    fitted.push({ machine, report, estimated });
  }
  const rank = ({ report }: Fitted): number => (report === null ? -1 : ORDER.indexOf(report.verdict));
  const sorted = fitted.toSorted((a, b) => rank(a) - rank(b));
  return checkReport(sorted, performance.now() - started);
}

function checkReport(fitted: readonly Fitted[], durationMs: number): ClusterCheck {
  const known = fitted.filter(({ report }) => report !== null);
  const worst = known[0];
  const isComplete = known.length === fitted.length;
  const own = worst?.report?.verdict ?? 'unknown';
  const verdict = isComplete || own === 'no' || own === 'not-now' ? own : 'unknown';
  const ranks = fitted.map(rankOf);
  return {
    schema: 'umaprobe/cluster-check/1',
    at: new Date().toISOString(),
    verdict,
    complete: isComplete,
    limiting: verdict === 'fits' ? null : (ranks[0]?.host ?? null),
    summary: summaryOf(ranks),
    need: worst?.report?.need === undefined ? null : rangeOf(worst.report.need),
    estimate: worst?.estimated ?? null,
    ranks,
    differences: differencesAmong(fitted.map(({ machine }) => machine)),
    durationMs,
  };
}

function rangeOf({ bytes, high, low }: FitReport['need']): ClusterCheck['need'] {
  return { bytes, low, high };
}

function rankOf({ machine: { snapshot, ...machine }, report }: Fitted): ClusterRank {
  if (snapshot === null) return { ...machine, simulated: null, judgement: null, fit: report };
  const { because, level, next } = snapshot.judgement;
  return { ...machine, simulated: snapshot.simulated, judgement: { level, because, next }, fit: report };
}

function summaryOf(ranks: readonly ClusterRank[]): string {
  const silent = unanswered(ranks);
  const short = ranks.find(({ fit }) => fit !== null);
  const all = ranks.length === 1 ? `on ${ranks[0]?.host}` : `on each of ${ranks.length} machines`;
  const own = short?.fit == null || short.fit.verdict === 'fits' ? null : shortText(short.host, short.fit);
  if (silent !== null) return own === null ? silent : `${silent} ${own}`;
  return own ?? `It fits ${all}; ${short?.host} has the least room. ${short?.fit?.summary}`;
}

/** Its own summary stands beside it. */
function shortText(host: string, { shortBy, verdict }: FitReport): string {
  if (verdict === 'not-now') return `Nothing should be loaded on ${host} now.`;
  if (verdict === 'unknown' || shortBy === null) return `Whether it fits on ${host} is not known.`;
  return shortBy === 0 ? `${host} decides.` : `${host} has the least room: ${formatBytes(shortBy)} are missing there.`;
}
