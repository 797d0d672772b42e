/** Profiles for tests: a trainer that is a formula, and rows as a trial writes them. */

import { type Exploration, type Explored, explore, rowOf } from '../../lib/run/profile/explore.ts';
import { type Plan, variations } from '../../lib/run/profile/plan.ts';
import { curvesOf, safeOf } from '../../lib/run/profile/report.ts';
import type { ProfileParameters, ProfileReport, ProfileTrial } from '../../lib/types/index.ts';
import { GB } from './units.ts';

export const TOTAL = 128.5 * GB;

/** A row of a trial that ended well. */
export function trialOf(params: ProfileParameters, peakBytes: number, more: Partial<ProfileTrial> = {}): ProfileTrial {
  return {
    ...rowOf(params, 1, null),
    status: 'ok',
    peakBytes,
    headroomBytes: Math.round(TOTAL - peakBytes),
    phases: { start: 6 * GB, plateau: peakBytes, peak: peakBytes, after: 6 * GB },
    startedAt: '2026-11-20T18:00:00.000Z',
    durationMs: 1000,
    exitCode: 0,
    ...more,
  };
}

/** Explores a trainer whose peak is a formula. It is stopped at the limit, as the guard would. */
export function exploreFormula(
  plan: Plan,
  peak: (params: ProfileParameters) => number,
  limitBytes: number,
  more: Partial<Exploration> = {},
): Promise<Explored> {
  return explore({
    plan,
    limitBytes,
    known: [],
    fatal: [],
    inUse: async () => 6 * GB,
    run: async ({ number, params, prediction }) => {
      const bytes = peak(params);
      const row = trialOf(params, Math.min(bytes, limitBytes), {
        number,
        prediction,
        predictedBytes: prediction?.bytes ?? null,
      });
      return bytes > limitBytes ? { ...row, status: 'stopped', notes: 'the guard stopped it.' } : row;
    },
    onTrial: () => undefined,
    ...more,
  });
}

export function profileOf(more: Partial<ProfileReport> = {}): ProfileReport {
  return {
    schema: 'umaprobe/profile/1',
    at: '2026-11-20T18:00:00.000Z',
    simulated: null,
    bootId: 'boot',
    command: ['python', 'train.py', '--bs', '{batch_size}'],
    parameters: [{ name: 'batch_size', values: [2, 4, 8, 16, 32] }],
    bisection: null,
    total: TOTAL,
    pool: { name: 'host', total: TOTAL, gpus: [] },
    limit: { bytes: 100 * GB, from: '100 GB' },
    floor: { bytes: 9 * GB, from: '7 % of MemTotal' },
    baselineBytes: 6 * GB,
    state: 'complete',
    reason: 'batch_size=32 was refused.',
    trials: [],
    safe: null,
    curves: [],
    others: [],
    unfinished: null,
    journal: '/state/profile.jsonl',
    journalNotes: [],
    recording: null,
    durationMs: 5000,
    ...more,
  };
}

const SFT: Readonly<Record<number, number>> = { 2: 21.1, 4: 29.0, 8: 46.8, 16: 80.9, 32: 150 };

/** The report of a Qwen3-0.6B SFT on a GB10 (mission.md S3), with a limit of 100 GB. */
export async function sftProfile(): Promise<ProfileReport> {
  const limit = 100 * GB;
  const plan = variations([{ name: 'batch_size', values: [2, 4, 8, 16, 32] }]);
  const peak = (params: ProfileParameters) => (SFT[params.batch_size as number] ?? 0) * GB;
  const { reason, safe, state, trials } = await exploreFormula(plan, peak, limit);
  const answer = safeOf(safe, trials, limit);
  return profileOf({ reason, state, trials, safe: answer, curves: curvesOf(['batch_size'], trials, safe) });
}
