/**
 * The order of the trials: one parameter at a time, in the given order, each raised until it is no longer safe; or one
 * number by doubling and halving. Pure: the caller runs a configuration and says whether it was safe.
 */

import type { ProfileBisection, ProfileParameters, ProfileVariation } from '../../types/index.ts';

/** A configuration to try, and the parameter that it raises; null: the first one. */
export interface NextTrial {
  params: ProfileParameters;
  raised: string | null;
  /** It shows what the parameter costs if that is cheaper, and is no candidate for the answer. */
  probe: boolean;
}

/** The caller's answers: true: it ran, and was safe. Returns the largest safe configuration; null: there is none. */
export type Plan = Generator<NextTrial, ProfileParameters | null, boolean>;

/**
 * A parameter starts at its first value, with the earlier ones at their largest safe values. Its first raise there would
 * be a leap in the dark, so the same raise is tried before in the middle of the way there: at the smallest configuration
 * its cost may be less than the noise, and unknown where it is enlarged.
 */
export function* variations(list: readonly ProfileVariation[]): Plan {
  const smallest = Object.fromEntries(list.map(({ name, values }) => [name, values[0] as number]));
  if (!(yield { params: smallest, raised: null, probe: false })) return null;
  /** Safe configurations, each above the one before. */
  const way: ProfileParameters[] = [smallest];
  for (const { name, values } of list) {
    const middle = way[Math.max(0, Math.min(Math.floor(way.length / 2), way.length - 2))];
    for (const [index, value] of values.entries()) {
      if (index === 0) continue;
      const params = { ...(way.at(-1) ?? smallest), [name]: value };
      const probe = { ...middle, [name]: value };
      if (index === 1 && !sameParameters(params, probe) && !(yield { params: probe, raised: name, probe: true })) break;
      if (!(yield { params, raised: name, probe: false })) break;
      way.push(params);
    }
  }
  return way.at(-1) ?? null;
}

/** Precision of a bisection: it ends within this share of the value, or one step. */
const PRECISION = 1 / 32;

/** Doubles from `from`, then halves the interval between the largest safe and the smallest unsafe value. */
export function* bisection({ from, name, to }: ProfileBisection): Plan {
  const at = (value: number, raised: string | null): NextTrial => ({ params: { [name]: value }, raised, probe: false });
  if (!(yield at(from, null))) return null;
  let safe = from;
  let unsafe: number | null = null;
  while (safe < to && unsafe === null) {
    const value = Math.min(safe * 2, to);
    if (yield at(value, name)) safe = value;
    else unsafe = value;
  }
  while (unsafe !== null && unsafe - safe > Math.max(from, safe * PRECISION)) {
    const value: number = safe + Math.max(1, Math.floor((unsafe - safe) / 2 / from)) * from;
    if (value >= unsafe) break;
    if (yield at(value, name)) safe = value;
    else unsafe = value;
  }
  return { [name]: safe };
}

export function sameParameters(a: ProfileParameters, b: ProfileParameters): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

/** True if `a` is `b`, or larger in some parameter and smaller in none. */
export function isAtOrAbove(a: ProfileParameters, b: ProfileParameters): boolean {
  return Object.entries(b).every(([name, value]) => (a[name] ?? 0) >= value);
}

/** "batch_size=8 seq_len=2048". */
export function parametersText(params: ProfileParameters): string {
  return Object.entries(params)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}
