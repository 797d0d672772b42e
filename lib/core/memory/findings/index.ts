/**
 * The one table of findings. The judgement of a snapshot (judge.ts), doctor() and explain() read the rows that apply; prepare,
 * fit, launch and the preflight of a probe read the judgement.
 *
 * To add a row: its id and title in types/findings.ts, in order of urgency; its function here; a machine on which it applies.
 */

import { FINDINGS, type FindingId } from '../../../types/findings.ts';
import type { Finding, NotJudged, Severity } from '../../../types/index.ts';
import { available, counters, kernelFiles, ownMemory } from './available.ts';
import { dirty, pageCache } from './cache.ts';
import { state, visible } from './devices.ts';
import { contextBlocks, fragmentation } from './fragmentation.ts';
import * as gpu from './gpu.ts';
import { hugePages, phantom, watermarks } from './kernel.ts';
import { cuda, nvml, refusingDriver, versions } from './libraries.ts';
import { oversubscription, permissions, thresholds } from './machine.ts';
import { pressure, rising } from './pressure.ts';
import { containerLimit, hostSmaller, locked, mapped, programs, shared } from './programs.ts';
import { lockedLimit, sharedSize } from './readiness.ts';
import { type Facts, type Need, type Row, type RowOutcome, unknown } from './row.ts';
import * as swap from './swap.ts';

export const ROWS: Readonly<Record<FindingId, Row>> = {
  pressure,
  'memory.available': available,
  'swap.full': swap.full,
  'swap.traffic': swap.traffic,
  'gpu.state': state,
  'library.cuda': cuda,
  'library.nvml': nvml,
  'driver.match': versions,
  'context.blocks': contextBlocks,
  'driver.contexts': refusingDriver,
  permissions,
  'kernel.files': kernelFiles,
  'gpu.memory': ownMemory,
  'cma.phantom': phantom,
  fragmentation,
  hugepages: hugePages,
  watermarks,
  'driver.pools': gpu.pools,
  'memory.unattributed': gpu.orphaned,
  'processes.listed': gpu.listed,
  'ledger.counters': counters,
  'cuda.visible': visible,
  'rdma.locked': lockedLimit,
  'shm.size': sharedSize,
  'tools.thresholds': thresholds,
  'pressure.rising': rising,
  'page.cache': pageCache,
  'cache.dirty': dirty,
  'swap.used': swap.used,
  'container.limit': containerLimit,
  'gpu.programs': gpu.programs,
  'model.twice': gpu.twice,
  programs,
  'memory.shared': shared,
  'memory.locked': locked,
  'files.mapped': mapped,
  'host.smaller': hostSmaller,
  'uvm.oversubscription': oversubscription,
};

export const FINDING_IDS = Object.keys(FINDINGS) as readonly FindingId[];

/** Facts that a row may need and that not every caller reads, as a clause. */
const NOT_READ: Readonly<Partial<Record<Need, string>>> = {
  processes: 'processes were not read (umaprobe explain reads them)',
  swapBytesPerSecond: 'it takes two readings (umaprobe doctor makes them)',
  access: 'only umaprobe doctor looks at it',
  oversubscription: 'only umaprobe doctor looks at it',
  readiness: 'only umaprobe doctor looks at it',
};

/** The needs of each row that not every caller meets. */
const AT_RISK = Object.fromEntries(
  FINDING_IDS.map((id) => [id, ROWS[id].needs.filter((need) => NOT_READ[need] !== undefined)]),
) as Record<FindingId, (Need & keyof Facts)[]>;

/** Outcome of one row for these facts. */
export function outcomeOf(id: FindingId, facts: Facts): RowOutcome {
  for (const need of AT_RISK[id]) if (facts[need] === undefined) return unknown(NOT_READ[need] as string);
  return ROWS[id].judge(facts);
}

const SEVERITIES: readonly Severity[] = ['notice', 'warning', 'danger'];

/**
 * The rows that apply, the most urgent first, and unjudged rows that matter. A row that needs a fact absent here, such
 * as the running programs, is taken from the snapshot's judgement.
 */
export function findingsOf(facts: Facts): { findings: Finding[]; notJudged: NotJudged[] } {
  const { snapshot } = facts;
  const before = 'judgement' in snapshot ? snapshot.judgement : null;
  const findings: Finding[] = [];
  const notJudged: NotJudged[] = [];
  for (const id of FINDING_IDS) {
    const outcome = outcomeOf(id, facts);
    if (outcome.state === 'applies') findings.push({ id, ...outcome.finding });
    if (outcome.state !== 'unknown') continue;
    if (before !== null) {
      findings.push(...before.findings.filter((finding) => finding.id === id));
      notJudged.push(...before.notJudged.filter((row) => row.id === id));
    } else if (outcome.matters) notJudged.push({ id, why: outcome.why });
  }
  // A stable sort: of one severity the order of the table holds.
  return { findings: findings.sort((a, b) => rank(b) - rank(a)), notJudged };
}

function rank({ normal, severity }: Finding): number {
  return normal ? -1 : SEVERITIES.indexOf(severity);
}
