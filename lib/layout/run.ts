/** `layout()` with its options checked: runs the child, and makes the report of what it says. */

import { liesOnHost } from '../memory/kinds.ts';
import { COUNTERS, movedOver, nvmlTarget } from '../probe/counters.ts';
import type { CheckedProbeOptions } from '../probe/options.ts';
import { endOf } from '../probe/outcome.ts';
import { runProbe } from '../probe/run.ts';
import type { ProbeRun } from '../probe/spec.ts';
import type { AllocatorKind, LayoutOptions, LayoutPart, LayoutReport, MemoryModel } from '../types/index.ts';
import type { LayoutPreset, Part } from './parts.ts';
import type { LayoutEvent, LayoutRequest, LayoutResult } from './protocol.ts';

export interface CheckedLayout {
  probe: CheckedProbeOptions;
  kind: AllocatorKind;
  parts: readonly Part[];
  preset: LayoutPreset | null;
  onPart: LayoutOptions['onPart'];
}

export async function runLayout({ kind, onPart, parts, preset, probe }: CheckedLayout): Promise<LayoutReport> {
  const done: LayoutPart[] = [];
  const run = await runProbe<LayoutRequest, LayoutEvent, LayoutResult>({
    command: 'layout',
    options: probe,
    kinds: [kind],
    request: ({ device }) => ({ kind, parts: [...parts], nvml: nvmlTarget(device) }),
    onEvent({ part }) {
      done.push(part);
      onPart?.(part, { done: done.length, total: parts.length });
    },
  });
  const { header, result, settled } = run;
  const { reason, state } = layoutEnd(run, done, parts.length);
  const moved = result === null ? null : movedOver([result.counters]);
  const counter = consumedCounter(header.device.memoryModel, kind);
  const change = moved?.[counter].afterTouch ?? null;
  const consumedBytes = change === null ? null : -change;
  const allocatedBytes = result?.allocatedBytes ?? sumOfMade(done);
  for (const name of COUNTERS) {
    const from = result?.origins[name];
    if (from !== undefined) header.from[`moved.${name}`] = from;
  }
  return {
    schema: 'umaprobe/layout/1',
    ...header,
    preset,
    kind,
    state,
    reason,
    parts: [...done, ...missing(parts.slice(done.length), { state, reason }, result === null)],
    expectedBytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    allocatedBytes,
    consumedBytes,
    consumedFrom: counter === 'cudaFree' ? 'cudaMemGetInfo free' : 'MemAvailable',
    overheadBytes: consumedBytes === null ? null : consumedBytes - allocatedBytes,
    moved,
    settled,
  };
}

/**
 * The counter that falls by what is held and by nothing else: MemAvailable where the host's memory is taken (cache that
 * gives way is no loss), CUDA's free where the device has its own.
 */
export function consumedCounter(model: MemoryModel, kind: AllocatorKind): 'memAvailable' | 'cudaFree' {
  return model === 'unified' || liesOnHost(kind) ? 'memAvailable' : 'cudaFree';
}

function layoutEnd(
  run: ProbeRun<LayoutResult>,
  done: readonly LayoutPart[],
  total: number,
): Pick<LayoutReport, 'state' | 'reason'> {
  const { reason, state } = endOf(run);
  if (state !== 'complete') return { state, reason };
  const bad = done.find((part) => part.state !== 'ok');
  if (bad !== undefined) return { state: 'incomplete', reason: `${bad.name}: ${bad.reason ?? bad.state}` };
  return { state: done.length === total ? 'complete' : 'incomplete', reason: null };
}

function sumOfMade(done: readonly LayoutPart[]): number {
  return done.reduce((sum, part) => sum + (part.state === 'ok' ? part.expectedBytes : 0), 0);
}

/** The first of them is the one that the child was in, where it did not come to its end. */
export function missing(
  parts: readonly Part[],
  { reason, state }: Pick<LayoutReport, 'state' | 'reason'>,
  childGone: boolean,
): LayoutPart[] {
  return parts.map(({ bytes, name }, at) => {
    const nothing = { name, expectedBytes: bytes, allocMs: null, firstTouchMs: null };
    if (!childGone || at > 0) return { ...nothing, state: 'not-reached', reason: null };
    return { ...nothing, state: state === 'lost' ? 'failed' : 'stopped', reason };
  });
}
