/** `stress()` on the parent's side: the request for the child's loop, and the report from what came back. */

import { formatBoth } from '../base/format.ts';
import { runProbe } from '../probe/run.ts';
import type { Baseline, ProbeRun } from '../probe/spec.ts';
import type { StressOptions, StressReport, StressState, StressStep } from '../types/index.ts';
import { type CheckedStressOptions, checkStressOptions, stepSizes } from './options.ts';
import type { StressEvent, StressRequest, StressResult } from './protocol.ts';

export async function runStress(given: StressOptions): Promise<StressReport> {
  const options = checkStressOptions(given);
  const steps: StressStep[] = [];
  let request: StressRequest | undefined;
  const run = await runProbe<StressRequest, StressEvent, StressResult>({
    command: 'stress',
    options: options.probe,
    kinds: [options.kind],
    request(baseline) {
      request = requestFor(baseline, options);
      return request;
    },
    onEvent({ progress, step }) {
      steps.push(step);
      options.onStep(step, progress);
    },
  });
  return report(run, request as StressRequest, steps);
}

function requestFor(baseline: Baseline, options: CheckedStressOptions): StressRequest {
  const { device, snapshot } = baseline;
  const { holdMs, kind, single, verify } = options;
  const sizes = stepSizes(device.memoryModel, kind, options.chunk);
  return {
    kind,
    mode: single ? 'single' : 'total',
    ceiling: ceiling(baseline, options, sizes.resolutionBytes),
    ...sizes,
    verify,
    holdMs,
    pools: (snapshot.driver.systemMemoryPools ?? 0) !== 0,
  };
}

/**
 * What the search must not pass. With `resume`: halfway between what the lost run had proven and what it was lost in, so
 * that repeated losses close in on the edge as a bisection does.
 */
function ceiling(
  { unfinished }: Baseline,
  { kind, max, resume }: CheckedStressOptions,
  resolution: number,
): StressRequest['ceiling'] {
  const asked =
    max === null ? null : { bytes: max, reason: `the maximum of ${formatBoth(max)} that was asked for was reached` };
  if (!resume || unfinished === null || unfinished.command !== 'stress' || unfinished.kind !== kind) return asked;
  const { provenBytes, sentence, targetBytes } = unfinished;
  const half = provenBytes + Math.floor((targetBytes - provenBytes) / 2 / resolution) * resolution;
  // Lost while holding what had been proven: then that was too much.
  const bytes = Math.max(
    resolution,
    targetBytes > provenBytes ? half : targetBytes - Math.max(resolution, targetBytes / 16),
  );
  if (asked !== null && asked.bytes <= bytes) return asked;
  return { bytes, reason: `an earlier run ended there: ${sentence}; this one does not pass ${formatBoth(bytes)}` };
}

type Run = ProbeRun<StressResult>;

function report(run: Run, request: StressRequest, told: readonly StressStep[]): StressReport {
  const { guard, header, result, settled } = run;
  const steps = result?.steps ?? told;
  return {
    schema: 'umaprobe/stress/1',
    ...header,
    kind: request.kind,
    mode: request.mode,
    state: result?.state ?? lostState(run),
    maxBytes: result?.maxBytes ?? most(steps),
    boundBy: result?.boundBy ?? run.reason ?? 'the child process is gone',
    guard,
    chunkBytes: request.chunkBytes,
    resolutionBytes: request.resolutionBytes,
    verified: result?.verified ?? null,
    holdMs: result?.holdMs ?? 0,
    cudaMs: result?.cudaMs ?? steps.reduce((sum, { allocMs, touchMs }) => sum + (allocMs ?? 0) + (touchMs ?? 0), 0),
    steps: [...steps],
    settled,
  };
}

/** A guard that had to end the process has found the edge, and not lost the child. */
function lostState({ end, guard }: Run): StressState {
  if (guard !== null && guard.reason !== 'parent') return guard.reason;
  return end === 'done' ? 'lost' : end;
}

function most(steps: readonly StressStep[]): number {
  return Math.max(0, ...steps.filter(({ state }) => state === 'ok').map(({ heldBytes }) => heldBytes));
}
