/** A profile in words and points, for its text, its Markdown, its CSV and its page. */
import { formatBoth, formatBytes } from '../../base/format.ts';
import type {
  ProfileCurve,
  ProfileParameters,
  ProfileReport,
  ProfileState,
  ProfileStatus,
  ProfileTrial,
} from '../../types/index.ts';
import type { Style } from './paint.ts';

export const STATUS_STYLES: Readonly<Record<ProfileStatus, Style>> = {
  ok: 'ok',
  over: 'warning',
  refused: 'notice',
  skipped: 'notice',
  stopped: 'warning',
  'out-of-memory': 'danger',
  failed: 'danger',
  'machine-lost': 'danger',
  aborted: 'warning',
};

export const STATE_STYLES: Readonly<Record<ProfileState, Style>> = {
  complete: 'ok',
  failed: 'danger',
  'not-clean': 'warning',
  aborted: 'warning',
};

/** "batch_size 8, seq_len 2048". */
export function settingsText(params: ProfileParameters): string {
  return Object.entries(params)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}

/** The answer as a sentence. */
export function answerText({ limit, pool, reason, safe, trials }: ProfileReport): string {
  if (safe === null) return `No configuration is safe below ${formatBoth(limit.bytes)}: ${reason}`;
  const { headroomBytes, marginBytes, params, peakBytes } = safe;
  const { gpu = null, notes = null } =
    trials.find((trial) => settingsText(trial.params) === settingsText(params)) ?? {};
  const where = pool.name === 'host' ? '' : gpu === null ? ' of the GPU' : ` of GPU ${gpu}`;
  return (
    `${settingsText(params)} is the largest safe configuration: peak ${formatBoth(peakBytes)}${where}, ` +
    `${formatBytes(marginBytes)} below the limit, ${formatBytes(headroomBytes)} stay available.` +
    (notes === null ? '' : ` Of its trial: ${notes}.`)
  );
}

/** Text about a trial besides its numbers: its note, or the model of its prediction if it was refused. */
export function trialNote({ earlier, notes, prediction, status }: ProfileTrial): string {
  const parts = [
    notes,
    status === 'refused' && prediction !== null
      ? `${formatBytes(prediction.low)} to ${formatBytes(prediction.high)} by ${prediction.model}`
      : null,
    earlier ? 'from an earlier run' : null,
  ];
  return parts.filter((part) => part !== null).join('; ');
}

/** Error of a prediction, in percent of the peak; null: one of the two is missing. */
export function predictionError({ peakBytes, predictedBytes, status }: ProfileTrial): number | null {
  if (peakBytes === null || predictedBytes === null || (status !== 'ok' && status !== 'over')) return null;
  return (predictedBytes / peakBytes - 1) * 100;
}

/** Points of the curve between its first value and `to`, for a picture. */
export function curvePoints(
  { exponent, fixedBytes, points, unitBytes }: ProfileCurve,
  to: number,
): (readonly [value: number, bytes: number])[] {
  const from = points[0]?.value ?? to;
  const count = 24;
  return Array.from({ length: count + 1 }, (_, index) => {
    const value = from + ((to - from) * index) / count;
    return [value, fixedBytes + unitBytes * value ** exponent] as const;
  });
}
