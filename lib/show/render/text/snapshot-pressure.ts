/** Pressure, the largest free blocks and swap: whether memory that is available can really be allocated. */
import { formatCount, formatPercent, share } from '../../../base/format.ts';
import { blockUse, formatBlockSize } from '../../../core/memory/contiguity.ts';
import { judgePressure, NOTICEABLE_PERCENT } from '../../../core/memory/pressure.ts';
import type { FreeBlocks, HostMemory, Psi, Snapshot } from '../../../types/index.ts';
import { amount, dot, type RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { joinThatFits, padEnd, truncate, widthOf } from '../text-layout.ts';
import { shortReason } from './snapshot-devices.ts';

const LABEL_WIDTH = 10;

export function healthLines(snapshot: Snapshot, options: RenderOptions): string[] {
  return [...pressure(snapshot, options), ...blocks(snapshot, options), ...swap(snapshot, options)];
}

function pressure(snapshot: Snapshot, options: RenderOptions): string[] {
  const { pressure: psi, from } = snapshot;
  if (psi === null) return [row('Pressure', `unknown (${shortReason(from.pressure)})`, options)];
  const noticed = judgePressure(snapshot).state === 'stalled' ? 'danger' : 'warning';
  const part = (name: string, { avg10, avg60, avg300 }: Psi): string => {
    const text = `${name} ${[avg10, avg60, avg300].map((value) => formatPercent(value)).join('  ')}`;
    return options.paint(avg10 >= NOTICEABLE_PERCENT ? noticed : 'ok', text);
  };
  const lines = hangingParts([part('some tasks', psi.some), part('all tasks', psi.full)], options);
  return [...lines, row('', 'waited for memory in the last 10 s, 1 min and 5 min', options)];
}

/** Coloured parts beside the label: in one line, or in one each where they do not fit. */
function hangingParts(parts: readonly string[], options: RenderOptions): string[] {
  const line = `${padEnd('Pressure', LABEL_WIDTH)}${parts.join(dot(options))}`;
  if (widthOf(line) <= options.width) return [line];
  return parts.map((part, index) => padEnd(index === 0 ? 'Pressure' : '', LABEL_WIDTH) + part);
}

/** Sizes of free blocks listed: the largest. */
const SHOWN_SIZES = 4;
const LARGEST_LABEL = 'largest: ';

function blocks(snapshot: Snapshot, options: RenderOptions): string[] {
  const { contiguity, from } = snapshot;
  if (contiguity === null) return [row('Blocks', `unknown (${shortReason(from.contiguity)})`, options)];
  const { cma } = blockUse(snapshot.host, contiguity);
  const finding = snapshot.judgement.findings.find(({ id }) => id === 'fragmentation');
  const style: Style = finding === undefined ? 'ok' : finding.severity;
  const largest = [...contiguity]
    .filter(({ freeBlocks }) => freeBlocks > 0)
    .sort((a, b) => b.order - a.order)
    .map(({ blockBytes, freeBlocks }) => `${formatCount(freeBlocks)} × ${formatBlockSize(blockBytes)}`);
  const summary = blocksText(snapshot.host, contiguity, (bytes) => amount(bytes, options));
  const line = joinThatFits(largest.slice(0, SHOWN_SIZES), ', ', options.cut - LABEL_WIDTH - LARGEST_LABEL.length);
  return [
    `${padEnd('Blocks', LABEL_WIDTH)}${options.paint(style, truncate(summary, options.cut - LABEL_WIDTH))}`,
    row(
      '',
      largest.length === 0 ? 'no free block' : `${LARGEST_LABEL}${options.unicode ? line : line.replaceAll('×', 'x')}`,
      options,
    ),
    ...(cma === 0
      ? []
      : [row('', `not counted: ${amount(cma, options)} of free CMA, which cannot hold GPU memory`, options)]),
  ];
}

/** Free memory in blocks that cudaMalloc takes. */
export function blocksText(
  host: HostMemory,
  contiguity: readonly FreeBlocks[],
  format: (bytes: number) => string,
): string {
  const { free, large } = blockUse(host, contiguity);
  return `${format(large)} of ${format(free)} free (${share(large, free)} %) in blocks of 2 MiB or more`;
}

function swap({ host }: Snapshot, options: RenderOptions): string[] {
  const text = swapText(host, (bytes) => amount(bytes, options));
  return text === null ? [] : [row('Swap', text, options)];
}

/** null: there is none, or it is not known. */
export function swapText({ swapFree, swapTotal }: HostMemory, format: (bytes: number) => string): string | null {
  if (swapTotal === null || swapFree === null || swapTotal === 0) return null;
  return `${format(swapTotal - swapFree)} of ${format(swapTotal)} used; GPU memory cannot be swapped`;
}

function row(label: string, text: string, options: RenderOptions): string {
  return padEnd(label, LABEL_WIDTH) + truncate(text, options.cut - LABEL_WIDTH);
}
