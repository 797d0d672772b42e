/**
 * Pressure stall information (PSI) of memory: one judgement for all features, and its thresholds with their evidence.
 * Percentages are shares of the last 10, 60 or 300 s. `some`: at least one task waited for memory. `full`: no task could
 * run. All three are exponential means: under a constant share s, the mean over 300 s is s × (1 − e^(−t/300)) after t
 * seconds.
 *
 * The evidence is 19,696 samples of a GB10 (lcasarin/blackbox): four wedges of 10 to 1,042 min with full at 92 to 99 %,
 * 38 to 46 GB available and swap full; and seven spikes of healthy runs, the longest 2 min at 98.5 %. "full ≥ 10 % for
 * 300 s" had no miss and no false alarm there.
 *
 * The guard of a probe (native/guard/stall_detector.h) has a stricter rule: it can stop the cause, sees MemAvailable 200
 * times a second, and has no five minutes.
 */

import { UmaError } from '../../base/errors.ts';
import { formatBytes, formatPercent } from '../../base/format.ts';
import type { HostMemory, Level, Pressure } from '../../types/index.ts';
import { lowMemory } from './floor.ts';
import { STOP_LARGEST } from './remedies.ts';
import { swapExhausted } from './swap.ts';

/** `full` over 10 s, in percent: from here on it is a spike or a stall. */
export const STALLED_PERCENT = 10;

/**
 * `some` over 10 s, in percent. Watchdogs in the field warn from 10 %. Programs are then using their page cache: if
 * dropped, it is read again at once (237 major faults after one drop under load).
 */
const WAITING_PERCENT = 10;

/** Percent of the last 10 s, `some` or `full`. An idle machine stays below: from here on the numbers are shown in colour. */
export const NOTICEABLE_PERCENT = 1;

/** `full` over 300 s relative to that of the last 10 and 60 s: 1 − 1/e, which a constant share reaches after 300 s. */
const LASTING_RATIO = 0.63;

/** `full` over 300 s, in percent. The longest healthy spike, 2 min at 98.5 %, reaches 32.5. */
const BEYOND_SPIKES_PERCENT = 35;

/** `full` over 300 s, in percent: 50 s in which no task could run. A spike of 30 s reaches 9. */
const LONG_PERCENT = 15;

/** `full` over 300 s, in percent: 3 s. A spike that is over is worth a sentence, and no more. */
const RECENT_PERCENT = 1;

/**
 * - `unknown`: the kernel does not report pressure.
 * - `none`: no task waits.
 * - `recent`: few tasks wait now, but none could run for 3 s or more of the last 5 min.
 * - `waiting`: tasks wait for memory, others run: the kernel reclaims.
 * - `spike`: no task could run for part of the last 10 s, which large allocations cause in healthy runs.
 * - `longSpike`: the same for about a minute and more.
 * - `stalled`: a freeze begins: the stall lasts, or little memory is left, or nothing makes progress.
 */
export type PressureState = 'unknown' | 'none' | 'recent' | 'waiting' | 'spike' | 'longSpike' | 'stalled';

export interface PressureFacts {
  pressure: Pressure | null;
  host: Pick<HostMemory, 'available' | 'swapFree' | 'swapTotal' | 'total'>;
  /** CUDA or NVML that does not answer: "NVML does not answer"; null: both answer, or were not asked. */
  silent?: string | null;
  /** The snapshot's reasons, also why `pressure` is null. */
  from?: Readonly<Record<string, string>>;
}

/** The reason why pressure is unknown: this user may not read it, it came late, or the kernel has no such report. */
function unknownBecause({ from }: Pick<PressureFacts, 'from'>): { why: string; next: string | null } {
  const reason = from?.pressure ?? '';
  if (reason.startsWith('ERR_UMA_PERMISSION')) return { why: 'this user may not read it', next: READ_PSI };
  if (reason.startsWith('ERR_UMA_TIMEOUT')) return { why: 'its file does not answer', next: null };
  if (reason !== '' && !reason.startsWith('ERR_UMA_NOT_SUPPORTED')) return { why: 'it cannot be read', next: null };
  return { why: 'this kernel does not report it', next: PSI_ON };
}

export interface PressureJudgement {
  state: PressureState;
  level: Level;
  /** The observation, without a capital and a full stop; '' for `none`. */
  text: string;
  /** The next step; null: none. */
  next: string | null;
  /** The reason for `unknown`. */
  why?: string;
}

export function judgePressure(facts: PressureFacts): PressureJudgement {
  const { pressure } = facts;
  if (pressure === null) {
    const { next, why } = unknownBecause(facts);
    return { state: 'unknown', level: 'notice', text: 'whether tasks wait for memory is not known', next, why };
  }
  const { full } = pressure;
  if (full.avg10 >= STALLED_PERCENT) return judgeStall(pressure, facts);
  const waits = waitingPercent(pressure);
  if (waits !== null) return judgeWaiting(waits, facts.host);
  if (full.avg300 >= RECENT_PERCENT) {
    const now =
      full.avg10 < NOTICEABLE_PERCENT ? '; it is over' : `, and ${formatPercent(full.avg10)} of the last 10 s`;
    const text = `no task could run for lack of memory for ${formatPercent(full.avg300)} of the last 5 min${now}`;
    return { state: 'recent', level: 'notice', text, next: null };
  }
  return { state: 'none', level: 'ok', text: '', next: null };
}

function judgeStall({ full }: Pressure, facts: PressureFacts): PressureJudgement {
  const seen = stalledText(full.avg10);
  const danger = whyFreeze(full, facts);
  if (danger !== null)
    return {
      state: 'stalled',
      level: 'danger',
      text: `${seen}${danger}: ${FREEZE_BEGINS}`,
      next: `${STOP_LARGEST} now, then check again`,
    };
  if (full.avg300 >= LONG_PERCENT)
    return {
      state: 'longSpike',
      level: 'warning',
      text: `${seen} and ${formatPercent(full.avg60)} of the last minute: longer than most spikes of healthy runs`,
      next: `umaprobe watch; if it does not end within 2 min: ${STOP_LARGEST}`,
    };
  const available = facts.host.available === null ? '' : `, and ${formatBytes(facts.host.available)} are available`;
  return {
    state: 'spike',
    level: 'notice',
    text: `${seen}: a spike. Large allocations cause such spikes in healthy runs${available}`,
    next: 'wait until it is over: umaprobe watch',
  };
}

/** The sign that a stall is a freeze, as the rest of its sentence; null: nothing, so it is a spike. */
function whyFreeze({ avg10, avg60, avg300 }: Pressure['full'], { host, silent = null }: PressureFacts): string | null {
  const { low } = lowMemory(host.total);
  if (host.available !== null && host.available < low) return `, with only ${formatBytes(host.available)} available`;
  if (avg300 >= BEYOND_SPIKES_PERCENT || avg300 >= LASTING_RATIO * Math.max(avg10, avg60))
    return ` and ${formatPercent(avg300)} of the last 5 min`;
  // No progress: reclaim has nowhere to put pages, or the driver itself waits for them. Counters of /proc/vmstat count
  // since boot, so one reading of them tells nothing.
  if (swapExhausted(host)) return ', and swap is full';
  return silent === null ? null : `, and ${silent}`;
}

function judgeWaiting(percent: number, { available, total }: PressureFacts['host']): PressureJudgement {
  const { low } = lowMemory(total);
  const isLow = available !== null && available < low;
  const left = isLow ? `, with only ${formatBytes(available)} available` : '';
  return {
    state: 'waiting',
    level: isLow ? 'warning' : 'notice',
    text: `${waitingText(percent)}${left}: the kernel is busy taking memory back`,
    next: isLow ? 'stop a program before you start another' : 'umaprobe watch',
  };
}

/** The remedy if the kernel does not report pressure; part of a sentence. */
const PSI_ON = 'boot with psi=1 to get the best known warning of a freeze';

const READ_PSI = 'run it as a user who may read /proc/pressure/memory';

/** `full` of the last 10 s if it is a spike or a stall; null: it is not, or the kernel does not report it. */
export function stalledPercent(pressure: Pressure | null): number | null {
  return pressure !== null && pressure.full.avg10 >= STALLED_PERCENT ? pressure.full.avg10 : null;
}

/** `some` of the last 10 s if tasks wait for memory; null: they do not, or the kernel does not report it. */
function waitingPercent(pressure: Pressure | null): number | null {
  return pressure !== null && pressure.some.avg10 >= WAITING_PERCENT ? pressure.some.avg10 : null;
}

/** "no task could run for lack of memory for 12.0 % of the last 10 s". */
export function stalledText(percent: number): string {
  return `no task could run for lack of memory for ${formatPercent(percent)} of the last 10 s`;
}

/** "no task could run … 10 s (PSI full, limit 10 %)": the reason why a probe stops. */
export function stalledAtLimitText(percent: number, limit: number): string {
  return `${stalledText(percent)} (PSI full, limit ${formatPercent(limit, 0)})`;
}

/** "tasks waited for memory for 23.0 % of the last 10 s". */
function waitingText(percent: number): string {
  return `tasks waited for memory for ${formatPercent(percent)} of the last 10 s`;
}

/** Meaning of a stall on a machine that freezes when memory runs out; follows a colon. */
const FREEZE_BEGINS = 'this is how a freeze begins';

/**
 * Returns why page cache should not be dropped now, as part of a sentence; null: it may be. A spike is reason enough:
 * it is the programs' use of the cache that counts, not the danger.
 */
export function whyNotDrop(facts: PressureFacts): string | null {
  const percent = waitingPercent(facts.pressure) ?? stalledPercent(facts.pressure);
  return percent === null ? null : waitingText(percent);
}

/** @throws UmaError ERR_UMA_BUSY (exit code 5 of the command line) while tasks wait for memory. */
export function refuseUnderPressure(facts: PressureFacts, call: string): void {
  const why = whyNotDrop(facts);
  if (why === null) return;
  throw new UmaError('ERR_UMA_BUSY', {
    source: 'umaprobe',
    call,
    status: null,
    name: 'PRESSURE',
    message: `refused, nothing was changed: ${why}, and dropped page cache would be read again at once. Stop the largest program first, or force it (--force)`,
  });
}
