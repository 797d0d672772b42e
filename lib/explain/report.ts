/** The report of explain(). */

import type { Facts } from '../memory/findings/row.ts';
import { headroom } from '../memory/headroom.ts';
import { judge } from '../memory/judge.ts';
import type { ExplainReport } from '../types/index.ts';

export function explainReport(facts: Facts): ExplainReport {
  const { snapshot } = facts;
  const { total, ...allocatable } = headroom(snapshot);
  const { findings, level, notJudged } = judge(facts);
  return {
    schema: 'umaprobe/explain/2',
    at: snapshot.at,
    simulated: snapshot.simulated,
    total,
    allocatable,
    level,
    findings,
    notJudged,
  };
}
