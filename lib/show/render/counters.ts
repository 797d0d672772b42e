/**
 * Counters that an allocation moved, kinds side by side at one size: this is why no two monitors agree on a unified
 * machine. An allocation always lowers MemFree, but may be charged to no RSS, cgroup or NVML counter.
 */
import type { AllocatorKind, Counter, CounterChange, SweepStep } from '../../types/index.ts';
import { kindStyle } from './kinds.ts';
import { moved, sizeText } from './numbers.ts';
import type { RenderOptions } from './options.ts';
import { table } from './text-layout.ts';

export const COUNTERS: readonly (readonly [Counter, string])[] = [
  ['memFree', 'MemFree'],
  ['memAvailable', 'MemAvailable'],
  ['cudaFree', 'CUDA free'],
  ['nvmlProcess', 'NVML, process'],
  ['nvmlDeviceUsed', 'NVML, device used'],
  ['rss', 'RSS'],
  ['cgroup', 'cgroup charge'],
];

/**
 * The steps to compare: steps of the largest size that every kind has measured, where noise of other programs matters
 * least; if they share no size, each kind's largest. Kinds without a measurement are left out.
 */
export function comparable(steps: readonly SweepStep[]): SweepStep[] {
  const measured = steps.filter((step) => step.moved !== null && step.state === 'ok');
  const kinds = [...new Set(measured.map(({ kind }) => kind))];
  const sizesOf = (kind: AllocatorKind): number[] =>
    measured.filter((step) => step.kind === kind).map((step) => step.requestedBytes);
  const common = kinds.map(sizesOf).reduce(
    (left, right) => left.filter((bytes) => right.includes(bytes)),
    measured.map((step) => step.requestedBytes),
  );
  return kinds.flatMap((kind) => {
    const bytes = Math.max(...(common.length > 0 ? common : sizesOf(kind)));
    return measured.find((step) => step.kind === kind && step.requestedBytes === bytes) ?? [];
  });
}

/** Share of the size below which a change is put down to other programs. */
const NOISE_SHARE = 0.02;

export function isNoise(change: number | null, bytes: number): boolean {
  return change !== null && Math.abs(change) < bytes * NOISE_SHARE;
}

/** Two columns per kind: after the allocation, and after the GPU has written every byte. */
export function countersTable(steps: readonly SweepStep[], options: RenderOptions): string[] {
  const chosen = comparable(steps);
  if (chosen.length === 0) return [];
  const same = chosen.every((step) => step.requestedBytes === chosen[0]?.requestedBytes);
  const bySize = same && chosen[0] !== undefined ? ` by ${sizeText(chosen[0].requestedBytes)}` : '';
  // Two kinds fit beside each other on 80 columns; more follow below.
  const room = Math.max(1, Math.floor((options.width - 20) / 28));
  const blocks: string[][] = [];
  for (let from = 0; from < chosen.length; from += room)
    blocks.push(block(chosen.slice(from, from + room), same, options));
  return [options.paint('heading', `Which counters moved${bySize}`), ...blocks.flat()];
}

function block(chosen: readonly SweepStep[], same: boolean, options: RenderOptions): string[] {
  const names = chosen.flatMap(({ kind, requestedBytes }) => [
    options.paint(kindStyle(kind), same ? kind : `${kind} ${sizeText(requestedBytes)}`),
    '',
  ]);
  const heads = chosen.flatMap(() => ['allocated', 'touched'].map((label) => options.paint('dim', label)));
  const rows = COUNTERS.map(([counter, name]) => [
    name,
    ...chosen.flatMap((step) => {
      const change = step.moved?.[counter];
      return [cell(change, 'afterAlloc', step, options), cell(change, 'afterTouch', step, options)];
    }),
  ]);
  return table(
    ['left', ...chosen.flatMap(() => ['right', 'right'] as const)],
    [['', ...names], ['', ...heads], ...rows],
    options.cut,
  );
}

function cell(
  change: CounterChange | undefined,
  when: 'afterAlloc' | 'afterTouch',
  step: SweepStep,
  options: RenderOptions,
): string {
  const bytes = change?.[when] ?? null;
  const text = moved(bytes, options.unicode);
  return bytes === null || isNoise(bytes, step.requestedBytes) ? options.paint('dim', text) : text;
}
