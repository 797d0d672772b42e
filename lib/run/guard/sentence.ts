/** Observations of the guard, in one sentence. */

import { capitalized, clean, formatBytes, formatDuration } from '../../base/format.ts';
import { availableBytes } from '../../core/memory/available.ts';
import { type GuardThresholds, SHOWN_RULES } from '../../core/memory/guard-rules.ts';
import { stalledText } from '../../core/memory/pressure.ts';
import type { GuardAction, GuardEvidence, LeftBehind } from '../../types/index.ts';

/** Text of an action, done and with `dryRun`; `%` is the receiver of the signal. */
const DONE: Readonly<Record<GuardAction['action'], readonly [done: string, would: string]>> = {
  drop: ['clean page cache was dropped', 'clean page cache would have been dropped'],
  compact: ['free memory was compacted', 'free memory would have been compacted'],
  warn: ['', ''],
  term: ['% got SIGTERM', '% would have got SIGTERM'],
  kill: ['% got SIGKILL', '% would have got SIGKILL'],
};

/** "7.9 GiB were available, falling by 4.0 GiB/s: 0.12 s to the floor of 6.0 GiB; the program held 9.1 GiB". */
export function actionSentence(
  { action, dryRun, evidence, failure, reason, target }: Omit<GuardAction, 'type' | 'at' | 'sentence'>,
  thresholds: GuardThresholds,
  isSystem = false,
): string {
  const seen = capitalized(seenText(reason, evidence, thresholds));
  const held = action === 'drop' || action === 'compact' ? '' : heldText(evidence);
  const who = target === null ? 'the program' : (target.split('/').at(-1) ?? target);
  const [done, would] = DONE[action].map((text) => text.replace('%', who)) as [string, string];
  if (done === '') return `${seen}${held}.`;
  if (failure !== null && target === null && isSystem && (action === 'term' || action === 'kill'))
    return `${seen}. Nothing is stopped: no unit or container that may be stopped is running.`;
  if (failure !== null) return `${seen}${held}. Not done: ${done} (${failure}).`;
  return `${seen}${held}: ${dryRun ? would : done}.`;
}

/** " 9.7 GiB stay in /dev/shm (x)."; empty: nothing does. */
export function leftBehindText(left: readonly LeftBehind[]): string {
  return left
    .map(({ bytes, files, where }) => {
      const named = files.length === 0 ? '' : ` (${files.map((path) => path.slice(where.length + 1)).join(', ')})`;
      return ` ${formatBytes(bytes)} stay in ${where}${named}.`;
    })
    .join('');
}

function seenText(reason: GuardAction['reason'], evidence: GuardEvidence, thresholds: GuardThresholds): string {
  const { available, free, freeInCpuLists, pressureFull, secondsToFloor, slope } = evidence;
  const floor = `the floor of ${formatBytes(thresholds.floor.bytes)}`;
  const left = `${formatBytes(availableBytes({ available }, { freeInCpuLists }))} were available`;
  const falling = slope !== null && slope < 0 ? `falling by ${formatBytes(-slope)}/s` : null;
  switch (reason) {
    case 'floor-near': {
      const time = secondsToFloor === null ? floor : `${formatDuration(secondsToFloor * 1000)} to ${floor}`;
      return `${left}, ${falling === null ? '' : `${falling}: `}${time}`;
    }
    case 'below-kill':
      return `${left}, less than the limit of ${formatBytes(thresholds.killBelowBytes)}`;
    case 'low-and-stalled':
      return `${left}, less than ${floor}, and ${signs(evidence, falling)}`;
    case 'stalled':
      return `${stalledText(pressureFull ?? 0)}, and so for ${formatDuration(SHOWN_RULES.pressureForMs)}`;
    case 'loading':
      return `${formatBytes(free)} were free while the program loads`;
    case 'requested':
      return `the guard was asked to end the program; ${left}`;
  }
}

/** Signs besides memory below the floor. */
function signs({ freeBlocks, pressureFull, swapFree }: GuardEvidence, falling: string | null): string {
  const { minBlocksBytes, pressureFullPercent } = SHOWN_RULES;
  const seen = [
    pressureFull !== null && pressureFull >= pressureFullPercent ? stalledText(pressureFull) : null,
    freeBlocks !== null && freeBlocks < minBlocksBytes
      ? `only ${formatBytes(freeBlocks)} of it in blocks of 2 MiB or more`
      : null,
    swapFree === 0 ? 'no swap is left' : null,
    falling,
  ].filter((text) => text !== null);
  return seen.length === 0 ? 'it stays there' : seen.join(', ');
}

function heldText({ groupBytes, groupGpuBytes, othersGrewBytes }: GuardEvidence): string {
  const held = [
    ...(groupBytes === null ? [] : [formatBytes(groupBytes)]),
    ...(groupGpuBytes === null || groupGpuBytes === 0 ? [] : [`${formatBytes(groupGpuBytes)} on the GPU`]),
  ];
  const program = held.length === 0 ? '' : `; the program held ${held.join(' and ')}`;
  return othersGrewBytes === null ? program : `${program}; other processes took ${formatBytes(othersGrewBytes)}`;
}

/** null: the command of `notify` did its work. */
export function notifyFailure(file: string, exitCode: number, late: boolean): string | null {
  if (late) return `${clean(file)} took longer than ${formatDuration(SHOWN_RULES.notifyMs)} and was ended`;
  return exitCode === 0 ? null : `${clean(file)} ended with exit code ${exitCode}`;
}
