/** Common parts of sweep, layout and stress: the machine, an unfinished earlier run, and how memory settled. */
import { clean, formatBoth, formatBytes, formatDuration } from '../../../base/format.ts';
import { usersText } from '../../../core/memory/others.ts';
import type { KindSupport, OtherUsers, ProbeHeader, Settled } from '../../../types/index.ts';
import { moved } from '../numbers.ts';
import { dot, type RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { hanging, joinThatFits, table } from '../text-layout.ts';
import { flow, labelled, nextLines, simulatedBand } from './frame.ts';
import { MODEL_LABELS } from './snapshot-header.ts';

/** The first lines of a page: that the machine is simulated, the answer, and an earlier run that did not end well. */
export function firstLines(report: ProbeHeader, answer: readonly string[], options: RenderOptions): string[] {
  const { simulated, timeScale } = report;
  const note = timeScale !== null && timeScale !== 1 ? ` (time runs ${timeScale}:1)` : '';
  return [...simulatedBand(simulated, options, { note }), ...answer, ...unfinishedLines(report, options)];
}

/** The machine, the device and the floor. */
export function probeHeader(report: ProbeHeader, options: RenderOptions): string[] {
  const { device, simulated, host, floor, touch } = report;
  const lines: string[] = [];
  const gpu = [
    `GPU ${device.index}  ${clean(device.name ?? 'unnamed')}`,
    MODEL_LABELS[device.memoryModel],
    device.total === null ? null : formatBoth(device.total),
  ].filter((part) => part !== null);
  lines.push(options.paint('strong', joinThatFits(gpu, dot(options), options.cut)));
  const facts = [
    simulated === null ? clean(options.hostName) : null,
    device.driverVersion === null ? null : `driver ${clean(device.driverVersion)}`,
    device.cudaVersion === null ? null : `CUDA ${clean(device.cudaVersion)}`,
    `host ${formatBytes(host.available)} available of ${formatBytes(host.total)}`,
    floor === null ? 'no floor: no host memory is used' : `floor ${formatBytes(floor.bytes)}`,
    `${report.at.slice(0, 19).replace('T', ' ')} UTC`,
  ].filter((part) => part !== null);
  lines.push(...flow(facts, options));
  if (report.others !== null) lines.push(...hanging('', othersText(report.others), options.width));
  if (touch.by === 'memset') {
    const reason = clean(touch.reason ?? 'unknown');
    lines.push(
      ...hanging('', `Touched by cudaMemset, because umaprobe's kernel could not be loaded: ${reason}`, options.width),
    );
  }
  return lines;
}

function othersText(others: OtherUsers): string {
  if (others.processes.length > 0) return `shared with others: ${usersText(others)}`;
  const held = others.bytes === null ? '' : `: ${formatBytes(others.bytes)} are in use`;
  return `perhaps shared with others, who are not known here${held}`;
}

/** An unfinished earlier run and repairs of the journal: to be known before the details of this one. */
function unfinishedLines({ journalNotes, unfinished }: ProbeHeader, options: RenderOptions): string[] {
  const notes = journalNotes.flatMap((note) => hanging('note  ', clean(note), options.width));
  if (unfinished === null) return notes;
  const [label, style] = unfinished.otherBoot
    ? (['EARLIER RUN', 'danger'] as const)
    : (['earlier run', 'warning'] as const);
  return [...labelled(label, style, clean(unfinished.sentence), options), ...notes];
}

/** Requested kinds that this machine does not support, with the reason. */
export function unsupportedLines(
  kinds: readonly KindSupport[],
  requested: ReadonlySet<string>,
  options: RenderOptions,
): string[] {
  const rows = kinds
    .filter(({ kind, supported }) => !supported && requested.has(kind))
    .map(({ kind, reason }) => [kind, 'unsupported', clean(reason ?? 'unknown')]);
  return table(['left', 'left', 'flexible'], rows, options.cut);
}

/** Time in which memory settled after the probe, and whether all of it came back. */
export function settledLines(settled: Settled, options: RenderOptions): string[] {
  const { afterMs, missing } = settled;
  const label = 'Afterwards   ';
  const indent = ' '.repeat(label.length);
  const duration = formatDuration(afterMs);
  const changes = [
    ['MemAvailable', settled.memAvailableChange],
    ['MemFree', settled.memFreeChange],
    ['CUDA free', settled.cudaFreeChange],
  ] as const;
  const moves = changes
    .filter(([, bytes]) => bytes !== null)
    .map(([name, bytes]) => `${name} ${moved(bytes, options.unicode)}`)
    .join(dot(options));
  const state = settled.settled ? `settled after ${duration}` : `still moving after ${duration}`;
  const lines = hanging(label, `${state}${moves === '' ? '' : `; change: ${moves}`}`, options.width);
  if (missing === null) return [...lines, `${indent}all of it came back`];
  const sentence = `${formatBoth(missing.bytes)} did not come back: ${clean(missing.explanation)}`;
  return [...lines, ...hanging(indent, sentence, options.width).map((line) => options.paint('warning', line))];
}

/** The answer: the outcome, its meaning, and the next step. */
export function outcomeLines(
  outcome: string,
  style: Style,
  sentence: string,
  options: RenderOptions,
  next: string | null = null,
): string[] {
  const lines = labelled(outcome.toUpperCase(), style, clean(sentence), options);
  return next === null ? lines : [...lines, ...nextLines(outcome, { text: next, command: null }, options)];
}
