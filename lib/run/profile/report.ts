/** Answer from the trials: the largest safe configuration, its margin, and the curves. Pure. */

import type { ProfileCurve, ProfileParameters, ProfileReport, ProfileTrial } from '../../types/index.ts';
import { sameParameters } from './plan.ts';
import { curveOf } from './predict.ts';

/** The answer for the configuration that the plan ended with. */
export function safeOf(
  params: ProfileParameters | null,
  trials: readonly ProfileTrial[],
  limitBytes: number,
): ProfileReport['safe'] {
  const trial = params === null ? undefined : trials.find((one) => sameParameters(one.params, params));
  if (trial?.status !== 'ok' || trial.peakBytes === null || trial.headroomBytes === null) return null;
  const { headroomBytes, peakBytes } = trial;
  return { params: trial.params, peakBytes, headroomBytes, marginBytes: limitBytes - peakBytes };
}

/** A curve for each parameter, through the trials beside the safe configuration, or else the smallest one. */
export function curvesOf(
  parameters: readonly string[],
  trials: readonly ProfileTrial[],
  safe: ProfileParameters | null,
): ProfileCurve[] {
  const peaks = trials.flatMap(({ params, peakBytes, status }) =>
    peakBytes !== null && (status === 'ok' || status === 'over') ? [{ params, bytes: peakBytes }] : [],
  );
  const [first] = peaks;
  if (first === undefined) return [];
  return parameters.flatMap((name) => {
    const lines = [safe ?? first.params, ...peaks.map(({ params }) => params)].map((at) => curveOf(at, name, peaks));
    const longest = Math.max(...lines.map((line) => line?.points.length ?? 0));
    const curve = lines.find((line) => line !== null && line.points.length === longest);
    return curve == null ? [] : [curve];
  });
}
