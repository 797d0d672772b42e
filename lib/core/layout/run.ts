/** The parent of a layout: runs the child, and builds the report from its messages. */

import { checkOptions } from '../../base/options.ts';
import type { AllocatorKind, LayoutPart, LayoutReport, MemoryModel } from '../../types/index.ts';
import { liesOnHost } from '../memory/kinds.ts';
import { nvmlTarget } from '../probe/counter-reader.ts';
import { COUNTERS, movedOver } from '../probe/counters.ts';
import { runOutcome } from '../probe/outcome.ts';
import { runProbe } from '../probe/run.ts';
import type { ProbeRun } from '../probe/spec.ts';
import { LAYOUT, type LayoutOptions } from './options.ts';
import { checkParts, type Part } from './parts.ts';
import type { LayoutMessage, LayoutRequest, LayoutResult } from './protocol.ts';

export async function runLayout(given: unknown, settings: LayoutOptions): Promise<LayoutReport> {
  const options = checkOptions('layout()', settings, LAYOUT);
  const { kind, onEvent } = options;
  const { parts, preset } = checkParts(given);
  const done: LayoutPart[] = [];
  const run = await runProbe<LayoutRequest, LayoutMessage, LayoutResult>({
    command: 'layout',
    options,
    kinds: [kind],
    request: ({ device }) => ({ kind, parts: [...parts], nvml: nvmlTarget(device) }),
    onEvent({ part }) {
      done.push(part);
      return onEvent?.({ type: 'part', part, progress: { done: done.length, total: parts.length } });
    },
  });
  const { header, result, settled } = run;
  const outcome = layoutOutcome(run, done, parts.length);
  const moved = result === null ? null : movedOver([result.counters]);
  const counter = consumedCounter(header.device.memoryModel, kind);
  const change = moved?.[counter].afterTouch ?? null;
  const consumedBytes = change === null ? null : -change;
  const allocatedBytes = result?.allocatedBytes ?? sumOfOk(done);
  for (const name of COUNTERS) {
    const source = result?.sources[name];
    if (source !== undefined) header.from[`moved.${name}`] = source;
  }
  return {
    schema: 'umaprobe/layout/1',
    ...header,
    preset,
    kind,
    ...outcome,
    parts: [...done, ...missingParts(parts.slice(done.length), outcome, result === null)],
    expectedBytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    allocatedBytes,
    consumedBytes,
    consumedFrom: counter === 'cudaFree' ? 'cudaMemGetInfo free' : 'MemAvailable',
    overheadBytes: consumedBytes === null ? null : overhead(consumedBytes, allocatedBytes),
    moved,
    settled,
  };
}

/**
 * The counter that falls by the held bytes and by nothing else: MemAvailable for host memory (reclaimed cache does not
 * lower it), CUDA's free memory on a device with its own.
 */
export function consumedCounter(model: MemoryModel, kind: AllocatorKind): 'memAvailable' | 'cudaFree' {
  return model === 'unified' || liesOnHost(kind) ? 'memAvailable' : 'cudaFree';
}

/** The counters of other programs move by less meanwhile. */
const NOISE_SHARE = 0.01;

/** null: memory came from what the counter does not count, the driver's pools, or other programs freed some. */
function overhead(consumed: number, allocated: number): number | null {
  const bytes = consumed - allocated;
  return bytes < -allocated * NOISE_SHARE ? null : bytes;
}

type LayoutOutcome = Pick<LayoutReport, 'state' | 'reason'>;

function layoutOutcome(run: ProbeRun<LayoutResult>, done: readonly LayoutPart[], total: number): LayoutOutcome {
  const { reason, state } = runOutcome(run);
  if (state !== 'complete') return { state, reason };
  const notOk = done.find((part) => part.state !== 'ok');
  if (notOk !== undefined) return { state: 'incomplete', reason: `${notOk.name}: ${notOk.reason ?? notOk.state}` };
  return { state: done.length === total ? 'complete' : 'incomplete', reason: null };
}

function sumOfOk(done: readonly LayoutPart[]): number {
  return done.reduce((sum, part) => sum + (part.state === 'ok' ? part.expectedBytes : 0), 0);
}

/** The parts that the child did not report. If it is gone, it was at the first of them. */
export function missingParts(
  parts: readonly Part[],
  { reason, state }: LayoutOutcome,
  isChildGone: boolean,
): LayoutPart[] {
  return parts.map(({ bytes, name }, at) => {
    const unmeasured = { name, expectedBytes: bytes, allocMs: null, firstTouchMs: null };
    const wasCut = isChildGone && at === 0 && state !== 'complete' && state !== 'incomplete';
    return { ...unmeasured, ...(wasCut ? { state, reason } : { state: 'not-reached', reason: null }) };
  });
}
