/** Two sweeps: the same sizes of the same kinds, how long they took and how they ended. */

import { formatBytes } from '../../base/format.ts';
import type { ComparedRow, ComparedSide, CompareReport, SweepReport, SweepStep } from '../../types/index.ts';
import { differing, row, textOf } from './rows.ts';

/** Measured times that differ by less are called alike in the summary: repeats of one machine do. */
const ALIKE = 0.05;

export function compareSweeps(a: SweepReport, b: SweepReport): CompareReport {
  const kinds = [...new Set([...Object.keys(a.largest), ...Object.keys(b.largest)])] as (keyof typeof a.largest)[];
  const largest = kinds.map((kind) =>
    row('answer', `largest, ${kind}`, 'bytes', [largestOf(a, kind), largestOf(b, kind)], `largest.${kind}`),
  );
  const pairs = stepPairs(a, b);
  const lone = pairs.filter((pair) => pair.includes(undefined)).length;
  const steps = pairs.flatMap(stepRows);
  const settings = [
    row('settings', 'driver', 'text', [a.device.driverVersion, b.device.driverVersion], 'device.driverVersion'),
    row('settings', 'CUDA', 'text', [a.device.cudaVersion, b.device.cudaVersion], 'device.cudaVersion'),
    row('settings', 'floor', 'bytes', [a.floor?.bytes, b.floor?.bytes], 'floor.bytes'),
    row('settings', 'repeat', 'count', [a.repeat, b.repeat], 'repeat'),
    row('settings', 'available at the start', 'bytes', [a.host.available, b.host.available], 'host.available'),
  ];
  const alloc = typicalRatio(steps, 'allocation');
  return {
    schema: 'umaprobe/compare/1',
    kind: 'sweep',
    a: sideOf(a),
    b: sideOf(b),
    // The largest of other sizes is another size.
    summary: summaryOf(lone > 0 ? [] : largest, alloc),
    direction: alloc === null ? 'unknown' : Math.abs(alloc - 1) < ALIKE ? 'alike' : alloc < 1 ? 'faster' : 'slower',
    ...differing([...largest, ...steps, ...settings]),
    findings: [],
    notes: notesOf(a, b, lone),
  };
}

/** 0: none of its sizes could be allocated. null: none was tried. */
function largestOf({ largest, steps }: SweepReport, kind: keyof SweepReport['largest']): number | null {
  return largest[kind] ?? (steps.some((step) => step.kind === kind) ? 0 : null);
}

function sideOf({ at, device, reason, simulated, state, steps }: SweepReport): ComparedSide {
  const done = steps.filter((step) => step.state === 'ok').length;
  const text = `${state}, ${done} of ${steps.length} steps measured${reason === null ? '' : `: ${reason}`}`;
  return {
    at: textOf(at) ?? '',
    simulated: textOf(simulated),
    device: textOf(device.name),
    verdict: { level: null, text },
  };
}

type StepPair = readonly [SweepStep | undefined, SweepStep | undefined];

function stepPairs(a: SweepReport, b: SweepReport): StepPair[] {
  const key = ({ kind, requestedBytes }: SweepStep) => `${kind} ${requestedBytes}`;
  const ofB = new Map(b.steps.map((step) => [key(step), step]));
  const ofA = new Set(a.steps.map(key));
  return [
    ...a.steps.map((step) => [step, ofB.get(key(step))] as const),
    ...b.steps.filter((step) => !ofA.has(key(step))).map((step) => [undefined, step] as const),
  ];
}

function stepRows([x, y]: StepPair): ComparedRow[] {
  // A size that only one of the two was asked for says nothing about the other.
  if (x === undefined || y === undefined) return [];
  const { kind, requestedBytes } = x;
  const name = (what: string) => `${kind} ${requestedBytes}, ${what}`;
  const path = `steps[${kind} ${requestedBytes}]`;
  const median = (times: 'allocMs' | 'firstTouchMs', what: string) =>
    row('steps', name(what), 'ms', [x[times]?.median, y[times]?.median], `${path}.${times}.median`);
  return [
    row('steps', name('ended'), 'text', [x.state, y.state], `${path}.state`),
    median('allocMs', 'allocation'),
    median('firstTouchMs', 'first touch'),
    row('steps', name('speed'), 'gbPerSecond', [x.gbPerSecond, y.gbPerSecond], `${path}.gbPerSecond`),
  ];
}

/** Median of b ÷ a over all sizes; null: none was measured in both. */
function typicalRatio(steps: readonly ComparedRow[], what: string): number | null {
  const ratios = steps
    .filter(({ name, unit }) => unit === 'ms' && name.endsWith(what))
    .flatMap(({ a, b }) => (typeof a === 'number' && typeof b === 'number' && a > 0 ? [b / a] : []))
    .sort((x, y) => x - y);
  return ratios[ratios.length >> 1] ?? null;
}

function summaryOf(largest: readonly ComparedRow[], alloc: number | null): string {
  const sizes = largest
    .filter(({ a, b }) => a !== b)
    .map(({ a, b, name }) => `The ${name}, is ${sizeOf(a)} in A and ${sizeOf(b)} in B.`);
  const speed =
    alloc === null
      ? 'No size was measured in both.'
      : Math.abs(alloc - 1) < ALIKE
        ? 'Allocations take as long in both.'
        : `Allocations take ${alloc.toFixed(2)} times as long in B.`;
  return [speed, ...sizes].join(' ');
}

function sizeOf(value: ComparedRow['a']): string {
  return typeof value === 'number' ? formatBytes(value) : 'unknown';
}

function notesOf(a: SweepReport, b: SweepReport, lone: number): string[] {
  const notes: string[] = [];
  if (a.device.uuid !== b.device.uuid) notes.push('The two are of different GPUs.');
  if (a.timeScale !== b.timeScale) notes.push('Time ran at different speeds on the two simulated machines.');
  if (a.touch.by !== b.touch.by) notes.push('Memory was touched in different ways: first touches do not compare.');
  if (lone > 0) notes.push(`${lone} ${lone === 1 ? 'size is' : 'sizes are'} in one of the two only.`);
  return notes;
}
