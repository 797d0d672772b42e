/** Asks fit() about a need on each machine's snapshot; the worst answer is that of all. */

import { checkKeys, type Keys } from '../../base/arguments.ts';
import { formatBytes } from '../../base/format.ts';
import { defined } from '../../base/objects.ts';
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
import { CLUSTER, type ClusterCheckOptions, type ClusterOptions } from './options.ts';
import { differencesAmong, unanswered, weakestFirst } from './report.ts';

/** Question to each machine. */
export type Asked = FitNeed & FitOptions;

/** The question of fit(), which checks it. */
const QUESTION = ['bytes', 'model', 'use', 'estimate', 'program', 'programVersion', 'utilization', 'device', 'llama'];

/** The options of reading machines, and the question of fit(). */
export function splitOptions(options: ClusterCheckOptions): { asked: ClusterOptions; fitting: Asked } {
  const known = { ...CLUSTER, ...Object.fromEntries(QUESTION.map((name) => [name, true])) };
  checkKeys('clusterCheck()', options, known as unknown as Keys<ClusterCheckOptions>);
  const { answers, command, copy, deadlineMs, expect, hosts, onCopy, ...fitting } = options;
  return { asked: Object.fromEntries(Object.entries(options).filter(([key]) => key in CLUSTER)), fitting };
}

/** Ranks that a model is divided among. */
export function ranksOf(asked: Asked): number {
  const use = 'model' in asked ? asked.use : undefined;
  return (use?.tensorParallel ?? 1) * (use?.pipelineParallel ?? 1);
}

/** The same with its model read, once for all machines and before any is asked: a mistake is known at once. */
export async function withOpenModel(asked: Asked): Promise<Asked> {
  await assertFit('clusterCheck()', asked);
  if (!('model' in asked)) return asked;
  const { signal } = asked;
  return { ...asked, model: await openModel(asked.model, defined({ signal })) };
}

/** Verdicts from the worst to the best, as fit() ranks them; a machine without an answer is unknown. */
const ORDER: readonly FitVerdict[] = ['no', 'not-now', 'unknown', 'tight', 'fits-after', 'fits'];

interface Fitted {
  machine: ClusterMachine;
  report: FitReport | null;
  estimated: EstimateReport | null;
}

export async function checkOf({
  asked,
  machines,
  started,
}: {
  asked: Asked;
  machines: readonly ClusterMachine[];
  started: number;
}): Promise<ClusterCheck> {
  const fitted: Fitted[] = [];
  for (const machine of weakestFirst(machines)) {
    const { estimated, report } =
      machine.snapshot === null
        ? { estimated: null, report: null }
        : await fitWithEstimate({ ...asked, snapshot: machine.snapshot });
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
  const own = short?.fit == null || short.fit.verdict === 'fits' ? null : shortText(short.host, short.fit);
  if (silent !== null) return own === null ? silent : `${silent} ${own}`;
  if (own !== null) return own;
  const where =
    ranks.length === 1
      ? `on ${short?.host}.`
      : `on each of ${ranks.length} machines; ${short?.host} has the least room.`;
  return `It fits ${where} ${short?.fit?.summary}`;
}

/** Its own summary stands beside it. */
function shortText(host: string, { shortBy, verdict }: FitReport): string {
  if (verdict === 'not-now') return `Nothing should be loaded on ${host} now.`;
  if (verdict === 'unknown' || shortBy === null) return `Whether it fits on ${host} is not known.`;
  return shortBy === 0 ? `${host} decides.` : `${host} has the least room: ${formatBytes(shortBy)} are missing there.`;
}
