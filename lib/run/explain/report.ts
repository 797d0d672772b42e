/** The report of explain(). */

import { answer } from '../../core/memory/answer.ts';
import type { Facts } from '../../core/memory/findings/row.ts';
import { judge } from '../../core/memory/judge.ts';
import type { ExplainReport } from '../../types/index.ts';

export function explainReport(facts: Facts): ExplainReport {
  const { snapshot } = facts;
  const { findings, level, notJudged } = judge(facts);
  return {
    schema: 'umaprobe/explain/1',
    at: snapshot.at,
    simulated: snapshot.simulated,
    answer: answer(snapshot),
    level,
    findings,
    notJudged,
  };
}
