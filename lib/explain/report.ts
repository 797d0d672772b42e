/** The report of explain(). */

import type { FindingFacts } from '../memory/findings/finding.ts';
import { findings, notJudged } from '../memory/findings/index.ts';
import { headroom } from '../memory/headroom.ts';
import type { ExplainReport } from '../types/index.ts';

export function explainReport(facts: FindingFacts): ExplainReport {
  const { snapshot } = facts;
  const { afterReclaim, immediate, safe, total } = headroom(snapshot);
  return {
    schema: 'umaprobe/explain/1',
    at: snapshot.at,
    simulated: snapshot.simulated,
    total,
    allocatable: { immediate, afterReclaim, safe },
    findings: findings(facts),
    unknown: notJudged(facts),
  };
}
