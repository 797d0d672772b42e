/** The parent of a sweep: runs the child, and builds the report from its messages. */

import { invalidArgument } from '../../base/arguments.ts';
import { checkOptions } from '../../base/options.ts';
import type { SweepReport } from '../../types/index.ts';
import { KINDS } from '../memory/kinds.ts';
import { nvmlTarget } from '../probe/counter-reader.ts';
import { COUNTERS } from '../probe/counters.ts';
import { runOutcome } from '../probe/outcome.ts';
import { runProbe } from '../probe/run.ts';
import type { Baseline } from '../probe/spec.ts';
import { SWEEP, type SweepOptions } from './options.ts';
import { Progress } from './progress.ts';
import type { SweepMessage, SweepRequest, SweepResult } from './protocol.ts';
import { sweepSizes } from './sizes.ts';
import { spillsOf } from './spill.ts';
import { largestOf } from './steps.ts';

export async function runSweep(given: SweepOptions): Promise<SweepReport> {
  const options = checkOptions('sweep()', given, SWEEP);
  const { kinds, onEvent, oversubscribe, repeat } = options;
  const { preset, sizes } = sweepSizes(options);
  const progress = new Progress(sizes, onEvent);
  const run = await runProbe<SweepRequest, SweepMessage, SweepResult>({
    command: 'sweep',
    options,
    kinds: kinds === 'all' ? KINDS : kinds,
    request(baseline) {
      if (oversubscribe) refuseOversubscribeOnUnified(baseline);
      const bytes = sizes.map((size) => size.bytes);
      return { kinds, sizes: bytes, repeat, oversubscribe, nvml: nvmlTarget(baseline.device) };
    },
    onEvent: (event) => progress.receive(event),
  });
  const { header, result } = run;
  const outcome = runOutcome(run);
  const steps = progress.allSteps(outcome);
  for (const counter of COUNTERS) {
    const source = result?.sources[counter];
    if (source !== undefined) header.from[`moved.${counter}`] = source;
  }
  const { memoryModel, total: deviceTotal } = header.device;
  return {
    schema: 'umaprobe/sweep/1',
    ...header,
    preset,
    repeat,
    state: outcome.state,
    reason: outcome.reason,
    steps,
    spills: spillsOf(steps, { memoryModel, deviceFree: progress.deviceFree, deviceTotal }),
    largest: largestOf(steps),
  };
}

function refuseOversubscribeOnUnified({ device }: Baseline): void {
  if (device.memoryModel !== 'unified') return;
  const name = device.name ?? `device ${device.index}`;
  throw invalidArgument(
    `oversubscribe is true; expected false for ${name}: it has no memory of its own that could spill, and exceeding the host’s memory freezes the machine`,
  );
}
