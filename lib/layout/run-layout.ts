/** `layout()` with its options checked: runs the child, and makes the report of what it says. */

import type { CheckedOptions } from '../probe/options.ts';
import { runProbe } from '../probe/parent.ts';
import type { ProbeRun } from '../probe/plan.ts';
import { COUNTERS, movedOver } from '../sweep/counters.ts';
import { nvmlPlaceOf } from '../sweep/nvml-place.ts';
import type { AllocatorKind, LayoutOptions, LayoutPart, LayoutReport, MemoryModel } from '../types.ts';
import type { LayoutPreset, Part } from './parts.ts';
import type { LayoutEvent, LayoutRequest, LayoutResult } from './protocol.ts';

export interface CheckedLayout {
  probe: CheckedOptions;
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
    request: ({ device }) => ({ kind, parts: [...parts], nvml: nvmlPlaceOf(device) }),
    onEvent({ part }) {
      done.push(part);
      onPart?.(part, { done: done.length, total: parts.length });
    },
  });
  const { header, result, settled } = run;
  const { reason, state } = endOf(run, done, parts.length);
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
    parts: [...done, ...parts.slice(done.length).map(notReached)],
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
  return model === 'unified' || kind === 'pinned' || kind === 'system' ? 'memAvailable' : 'cudaFree';
}

function endOf(
  { end, reason, result }: ProbeRun<LayoutResult>,
  done: readonly LayoutPart[],
  total: number,
): Pick<LayoutReport, 'state' | 'reason'> {
  if (end !== 'done') return { state: end, reason };
  const stop = result?.stop ?? null;
  if (stop !== null) return { state: stop.why === 'guard' ? 'stopped' : stop.why, reason: stop.reason };
  const bad = done.find((part) => part.state !== 'ok');
  if (bad !== undefined) return { state: 'incomplete', reason: `${bad.name}: ${bad.reason ?? bad.state}` };
  return done.length === total ? { state: 'complete', reason: null } : { state: 'incomplete', reason };
}

function sumOfMade(done: readonly LayoutPart[]): number {
  return done.reduce((sum, part) => sum + (part.state === 'ok' ? part.expectedBytes : 0), 0);
}

function notReached({ bytes, name }: Part): LayoutPart {
  const nothing = { allocMs: null, firstTouchMs: null };
  return { name, expectedBytes: bytes, state: 'not-reached', reason: null, ...nothing };
}
