/** Reasons not to start a probe on this machine. Pure: readings in, the most urgent reason out. */

import { UmaError } from '../../base/errors.ts';
import { capitalized, formatBoth } from '../../base/format.ts';
import type { Finding, FindingId, ProbeHeader, Reading } from '../../types/index.ts';
import { availableBytes } from '../memory/available.ts';
import { unpinnable } from '../memory/cma.ts';
import { findingsOf } from '../memory/findings/index.ts';
import type { Facts } from '../memory/findings/row.ts';
import { PROGRAM_BYTES, stepMargin } from '../memory/floor.ts';
import { refuses } from '../memory/judge.ts';
import type { Refusal } from './context.ts';

/** The state of the machine before anything is allocated. */
export interface Conditions {
  facts: Facts;
  floor: ProbeHeader['floor'];
  acceptAFrozenMachine: boolean;
}

/** Reason for not starting a run. */
export type StartRefusal = Refusal<'floor' | 'pressure' | 'swap'>;

/** A probe's cause for a finding that refuses. Others that refuse are about the GPU, which the preflight checks. */
const CAUSES: Readonly<Partial<Record<FindingId, StartRefusal['cause']>>> = {
  pressure: 'pressure',
  'swap.full': 'swap',
  'swap.traffic': 'swap',
};

/** The first reason not to start, the most urgent before the others; null: none. */
export function unsafeCondition({ acceptAFrozenMachine, facts, floor }: Conditions): StartRefusal | null {
  const below = floor === null ? null : belowFloor(facts.snapshot, floor);
  if (below !== null || acceptAFrozenMachine) return below;
  for (const finding of findingsOf(facts).findings) {
    const cause = CAUSES[finding.id];
    if (cause !== undefined && refuses(finding)) return { cause, sentence: sentenceOf(finding) };
  }
  return null;
}

function sentenceOf({ remedy, summary }: Finding): string {
  const clause = summary.replace(/\.$/, '');
  return remedy === null ? clause : `${clause}. ${capitalized(remedy.text)}`;
}

/** The error for an unsafe condition. Its code is always ERR_UMA_FLOOR; `nativeName` names the cause. */
export function refusalError(command: string, { cause, sentence }: StartRefusal): UmaError {
  return new UmaError('ERR_UMA_FLOOR', {
    source: 'umaprobe',
    call: command,
    status: null,
    name: `REFUSED_${cause.toUpperCase()}`,
    message: `not started: ${sentence}`,
  });
}

/** The row `memory.available` for the floor of this run, which its caller may have chosen. */
function belowFloor({ host, kernel }: Reading, floor: { bytes: number; from: string }): StartRefusal | null {
  const available = availableBytes(host, kernel);
  if (available === null)
    return {
      cause: 'floor',
      sentence: 'MemAvailable cannot be read, so nothing would keep the host from running out of memory',
    };
  if (available - unpinnable(host).afterReclaim > floor.bytes + stepMargin(floor.bytes) + PROGRAM_BYTES) return null;
  return {
    cause: 'floor',
    sentence:
      `MemAvailable is ${formatBoth(available)} and the floor is ${formatBoth(floor.bytes)} (${floor.from}): too little memory to test with. ` +
      'End the programs that hold the memory (umaprobe snapshot lists them), or set a lower floor',
  };
}
