/** The parent of a stress test: runs the child, and builds the report from its messages. */

import { formatBoth } from '../../base/format.ts';
import { checkOptions } from '../../base/options.ts';
import type { StressReport, StressState, StressStep } from '../../types/index.ts';
import { hasPools } from '../memory/headroom.ts';
import { staysOnDevice } from '../memory/kinds.ts';
import { runProbe } from '../probe/run.ts';
import type { Baseline, ProbeRun } from '../probe/spec.ts';
import { type CheckedStressOptions, STRESS, type StressOptions, stepSizes } from './options.ts';
import type { StressMessage, StressRequest, StressResult } from './protocol.ts';

export async function runStress(given: StressOptions): Promise<StressReport> {
  const options = checkOptions('stress()', given, STRESS);
  const steps: StressStep[] = [];
  let request: StressRequest | undefined;
  let share: StressReport['share'] = null;
  const run = await runProbe<StressRequest, StressMessage, StressResult>({
    command: 'stress',
    options,
    kinds: [options.kind],
    share: { requested: options.shareBytes },
    request(baseline) {
      request = stressRequest(baseline, options);
      ({ share } = baseline);
      return request;
    },
    onEvent({ progress, step }) {
      steps.push(step);
      return options.onEvent?.({ type: 'step', step, progress });
    },
  });
  return report(run, request as StressRequest, share, steps);
}

function stressRequest(baseline: Baseline, options: CheckedStressOptions): StressRequest {
  const { device, snapshot } = baseline;
  const { holdMs, kind, single, verify } = options;
  const sizes = stepSizes(device.memoryModel, kind, options.chunkBytes);
  return {
    kind,
    mode: single ? 'single' : 'total',
    ceiling: searchCeiling(baseline, options, sizes.resolutionBytes),
    shareBytes: baseline.share?.bytes ?? 0,
    ...sizes,
    verify,
    holdMs,
    pools: hasPools(snapshot.driver),
  };
}

/**
 * The caller's maximum, or, with `resume`, a ceiling from the lost run, whichever is lower. The resumed ceiling lies
 * halfway between the bytes that the lost run had proven and those it was lost at: repeated losses bisect towards the
 * edge.
 */
function searchCeiling(
  { device, unfinished }: Baseline,
  { kind, maxBytes, resume }: CheckedStressOptions,
  resolution: number,
): StressRequest['ceiling'] {
  const own = ownMemory(device, kind);
  const maximum =
    maxBytes === null
      ? own
      : { bytes: maxBytes, reason: `the requested maximum of ${formatBoth(maxBytes)} was reached` };
  if (!resume || unfinished === null || unfinished.command !== 'stress' || unfinished.kind !== kind) return maximum;
  const { provenBytes, sentence, targetBytes } = unfinished;
  const halfway = provenBytes + Math.floor((targetBytes - provenBytes) / 2 / resolution) * resolution;
  // If the run was lost while it held the proven bytes, these were already too much.
  const lower = targetBytes > provenBytes ? halfway : targetBytes - Math.max(resolution, targetBytes / 16);
  const bytes = Math.max(resolution, lower);
  if (maximum !== null && maximum.bytes <= bytes) return maximum;
  return { bytes, reason: `an earlier run ended there: ${sentence}; this run does not exceed ${formatBoth(bytes)}` };
}

/**
 * All memory of a device of its own: memory that a driver gives beyond it is the host's (sysmem fallback), and no
 * maximum of the device. null: the device has none, or its size is not known.
 */
function ownMemory(
  { attributes, memoryModel }: Baseline['device'],
  kind: CheckedStressOptions['kind'],
): StressRequest['ceiling'] {
  const total = attributes.totalGlobalMem;
  if (memoryModel !== 'discrete' || !staysOnDevice(kind) || total === null) return null;
  return { bytes: total, reason: `the device has no more memory of its own than ${formatBoth(total)}` };
}

/** @param reported the steps of the events; used if the child is gone and there is no result. */
function report(
  run: ProbeRun<StressResult>,
  request: StressRequest,
  share: StressReport['share'],
  reported: readonly StressStep[],
): StressReport {
  const { guard, header, result, settled } = run;
  const steps = result?.steps ?? reported;
  return {
    schema: 'umaprobe/stress/1',
    ...header,
    kind: request.kind,
    mode: request.mode,
    state: result?.state ?? lostState(run),
    share,
    maxBytes: result?.maxBytes ?? largestHeld(steps),
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

/** If the guard ended the process, it found the edge: report its reason, not `lost`. */
function lostState({ end, guard }: ProbeRun<StressResult>): StressState {
  if (guard !== null && guard.reason !== 'parent') return guard.reason;
  return end === 'complete' ? 'lost' : end;
}

function largestHeld(steps: readonly StressStep[]): number {
  return Math.max(0, ...steps.filter(({ state }) => state === 'ok').map(({ heldBytes }) => heldBytes));
}
