/** A row of the table of findings as a check of doctor. */

import { capitalized } from '../../base/format.ts';
import { FINDINGS, type FindingId } from '../../types/findings.ts';
import type { CheckResult, CheckStatus, Finding } from '../../types/index.ts';
import { NOTHING, type RowOutcome, UNKNOWN_EFFECT } from '../memory/findings/row.ts';

export function checkResult(id: FindingId, outcome: RowOutcome): CheckResult {
  const title = FINDINGS[id];
  switch (outcome.state) {
    case 'passed': {
      const { summary } = outcome;
      const evidence = outcome.evidence();
      return { id, title, status: 'pass', summary, cause: null, effect: NOTHING, evidence, remedy: null };
    }
    case 'unknown': {
      const summary = `${capitalized(outcome.why)}.`;
      const evidence = outcome.evidence();
      return { id, title, status: 'unknown', summary, cause: null, effect: UNKNOWN_EFFECT, evidence, remedy: null };
    }
    case 'applies': {
      const { cause, effect, evidence, remedy, summary } = outcome.finding;
      return { id, title, status: statusOf(outcome.finding), summary, cause, effect, evidence, remedy };
    }
  }
}

function statusOf({ effect, severity }: Pick<Finding, 'effect' | 'severity'>): CheckStatus {
  if (severity === 'notice') return 'note';
  return severity === 'danger' || effect.does === 'refuses' ? 'fail' : 'warn';
}
