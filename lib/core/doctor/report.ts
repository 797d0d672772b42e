/** Reads the facts that the chosen rows of the table of findings need, and shows the result of each. */

import { abortable } from '../../base/abort.ts';
import { capitalized } from '../../base/format.ts';
import { checkOptions } from '../../base/options.ts';
import { FINDINGS, type FindingId } from '../../types/findings.ts';
import type { CheckResult, CheckStatus, DoctorReport, Finding, ProcessesReport, Snapshot } from '../../types/index.ts';
import { FINDING_IDS, outcomeOf, ROWS } from '../memory/findings/index.ts';
import { type Need, NOTHING, type RowOutcome, UNKNOWN_EFFECT } from '../memory/findings/row.ts';
import { processes } from '../processes/index.ts';
import { snapshot } from '../snapshot/index.ts';
import { readFacts } from './facts.ts';
import { DOCTOR, type DoctorOptions } from './options.ts';

/** Limit for the readings of CUDA, NVML and the child, in milliseconds. */
const READING_LIMIT_MS = 2800;
/** Least time for the child process, which creates a context in about 100 ms. A shorter timeout would mean nothing. */
const CONTEXT_MS = 1000;

export async function runDoctor(options: DoctorOptions): Promise<DoctorReport> {
  const { only, signal, skip } = checkOptions('doctor()', options, DOCTOR);
  const ids = FINDING_IDS.filter((id) => only.has(id) && !skip.has(id));
  return abortable(signal, () => report(ids));
}

async function report(ids: readonly FindingId[]): Promise<DoctorReport> {
  const started = performance.now();
  const needs = new Set(ids.flatMap((id) => ROWS[id].needs));
  const [reading, facts, running] = await Promise.all([read(needs), readFacts(needs), readProcesses(needs)]);
  const withContext = needs.has('context') ? await readContext(reading, started) : reading;
  const checks = ids.map((id) => {
    const seen = ROWS[id].needs.includes('context') ? withContext : reading;
    return checkResult(id, outcomeOf(id, { ...facts, processes: running, snapshot: seen }));
  });
  const summary: Record<CheckStatus, number> = { pass: 0, note: 0, warn: 0, fail: 0, unknown: 0 };
  for (const { status } of checks) summary[status]++;
  const { at, simulated } = reading;
  return { schema: 'umaprobe/doctor/1', at, simulated, summary, checks, durationMs: performance.now() - started };
}

/** One reading for all rows. It waits for CUDA and NVML only if a row needs them. */
function read(needs: ReadonlySet<Need>): Promise<Snapshot> {
  const waits = needs.has('cuda') || needs.has('nvml');
  return snapshot({
    memGetInfo: 'never',
    deadlineMs: waits ? READING_LIMIT_MS : 1,
    childDeadlineMs: CONTEXT_MS,
    hiddenDevices: waits,
  });
}

/** Null: no row needs them, or they cannot be listed. */
async function readProcesses(needs: ReadonlySet<Need>): Promise<ProcessesReport | null> {
  return needs.has('processes') ? processes({ deadlineMs: READING_LIMIT_MS }).catch(() => null) : null;
}

/**
 * The same with cudaMemGetInfo. It is left out if CUDA did not even answer without a context, or if another library has
 * used up the time. Else it has the whole limit: on a busy machine the first reading took seconds, and CUDA would be
 * said to be stuck for it.
 */
async function readContext(reading: Snapshot, started: number): Promise<Snapshot> {
  const isLate = performance.now() - started > READING_LIMIT_MS - CONTEXT_MS;
  if (reading.libraries.cuda.state !== 'loaded' || isLate) return reading;
  const limits = { deadlineMs: READING_LIMIT_MS, childDeadlineMs: READING_LIMIT_MS };
  return snapshot({ memGetInfo: 'child', ...limits, hiddenDevices: true });
}

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
