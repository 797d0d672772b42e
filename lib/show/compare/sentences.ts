/** The largest differences, in words. */

import { formatBytes } from '../../base/format.ts';
import type { ComparedRow } from '../../types/index.ts';

/** "76.5 GiB less can be loaded in B: 27.4 GiB, and 103.9 GiB in A." */
export function changeSentence({ a, b, change }: ComparedRow, does: string): string {
  const text = (value: ComparedRow['a']) => (typeof value === 'number' ? formatBytes(value) : 'unknown');
  if (change === null) return `How much ${does} is ${text(a)} in A and ${text(b)} in B.`;
  return `${formatBytes(Math.abs(change))} ${change < 0 ? 'less' : 'more'} ${does} in B: ${text(b)}, and ${text(a)} in A.`;
}

/** Programs that are named. */
const NAMED = 2;

/** "VLLM::EngineCor holds 70.0 GiB more GPU memory, python3 2.0 GiB less."; null: none holds more or less, as far as is known. */
export function grewSentence(rows: readonly ComparedRow[], memory: string): string | null {
  const moved = rows
    .filter((row): row is ComparedRow & { change: number } => row.change !== null && row.change !== 0)
    .sort((x, y) => Math.abs(y.change) - Math.abs(x.change));
  const [first, ...rest] = moved.slice(0, NAMED);
  if (first === undefined) return null;
  const size = ({ change }: { change: number }) => `${formatBytes(Math.abs(change))} ${change < 0 ? 'less' : 'more'}`;
  const others = rest.map((row) => `, ${row.name} ${size(row)}`).join('');
  return `${first.name} holds ${size(first)} ${memory}${others}.`;
}
