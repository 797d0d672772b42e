/** A row says the same in snapshot, explain and doctor: of every machine of the cases. */
import { describe, expect, it } from 'vitest';
import { checkResult } from '../../../../../lib/core/doctor/report.ts';
import { FINDING_IDS, outcomeOf } from '../../../../../lib/core/memory/findings/index.ts';
import { explainReport } from '../../../../../lib/run/explain/report.ts';
import { FINDINGS } from '../../../../../lib/types/findings.ts';
import type { CheckStatus, Finding } from '../../../../../lib/types/index.ts';
import { snapshotIn } from './case.ts';
import { CASES } from './cases.ts';

const STATUSES: Readonly<Record<Finding['severity'], readonly CheckStatus[]>> = {
  notice: ['note'],
  warning: ['warn', 'fail'],
  danger: ['fail'],
};

describe('a row says the same everywhere', () => {
  it.each(CASES.map(([id, title, facts]) => [`${id}: ${title}`, facts] as const))('%s', (_, facts) => {
    const snapshot = snapshotIn(facts);
    const { findings, level, mayLoad, notJudged } = snapshot.judgement;
    const explained = explainReport({ snapshot, processes: null });
    expect(explained).toMatchObject({ level, findings, notJudged });

    // What doctor alone reads is in no snapshot: these rows are unknown there, and say where they are judged.
    const shared = { snapshot, ...(facts.programs === undefined ? {} : { programs: facts.programs }) };
    const checks = FINDING_IDS.map((id) => checkResult(id, outcomeOf(id, shared)));
    for (const { evidence, id, remedy, status, summary, title, ...check } of checks) {
      expect(title).toBe(FINDINGS[id]);
      const finding = findings.find((row) => row.id === id);
      if (finding === undefined) expect(['pass', 'unknown'], id).toContain(status);
      else {
        expect(STATUSES[finding.severity], id).toContain(status);
        expect({ summary, remedy, evidence, cause: check.cause, effect: check.effect }).toEqual({
          summary: finding.summary,
          remedy: finding.remedy,
          evidence: finding.evidence,
          cause: finding.cause,
          effect: finding.effect,
        });
        if (finding.severity === 'warning') expect(status === 'fail').toBe(finding.effect.does === 'refuses');
      }
    }
    for (const { id } of notJudged) expect(checks.find((check) => check.id === id)?.status).toBe('unknown');

    // The command's exit code: 0 says that nothing stands in the way.
    const worst = checks.some(({ status }) => status === 'warn' || status === 'fail');
    expect(worst).toBe(level === 'warning' || level === 'danger');
    if (checks.some(({ status }) => status === 'fail')) expect(mayLoad === 'yes' && level !== 'danger').toBe(false);
  });
});
