/** What sweep, layout and stress begin with: where it ran, what is kept, and what an earlier run left untold. */
import { clean, formatBoth, formatBytes, formatDuration } from '../../base/format.ts';
import type { KindSupport, ProbeHeader, Settled } from '../../types/index.ts';
import { moved } from '../numbers.ts';
import { dot, type RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { hanging, joinThatFits, table } from '../text-layout.ts';
import { band, fill, MODEL_WORDS } from './snapshot-header.ts';

export function probeHeader(report: ProbeHeader, options: RenderOptions): string[] {
  const { device, simulated, timeScale, host, floor } = report;
  const lines: string[] = [];
  if (simulated !== null) {
    const scaled = timeScale !== null && timeScale !== 1;
    lines.push(band(simulated, options, scaled ? ` (time runs ${timeScale}:1)` : ''));
  }
  const who = [
    `GPU ${device.index}  ${clean(device.name ?? 'unnamed')}`,
    MODEL_WORDS[device.memoryModel],
    device.total === null ? null : formatBoth(device.total),
  ].filter((part) => part !== null);
  lines.push(options.paint('strong', joinThatFits(who, dot(options), options.width)));
  const where = [
    simulated === null ? clean(options.hostName) : null,
    device.driverVersion === null ? null : `driver ${clean(device.driverVersion)}`,
    device.cudaVersion === null ? null : `CUDA ${clean(device.cudaVersion)}`,
    `host ${formatBytes(host.available)} available of ${formatBytes(host.total)}`,
    floor === null ? 'no floor: nothing is taken from the host' : `floor ${formatBytes(floor.bytes)}`,
    `${report.at.slice(0, 19).replace('T', ' ')} UTC`,
  ].filter((part) => part !== null);
  lines.push(...fill(where, options));
  if (report.touch.by === 'memset') {
    lines.push(
      ...hanging(
        '',
        `Touched by cudaMemset, as umaprobe's kernel could not be loaded: ${clean(report.touch.reason ?? 'unknown')}`,
        options.width,
      ),
    );
  }
  return lines;
}

/** In the place of a headline: an unfinished run is the first thing to know, before any number of this one. */
export function unfinishedLines({ unfinished }: ProbeHeader, options: RenderOptions): string[] {
  if (unfinished === null) return [];
  const label = unfinished.otherBoot ? 'EARLIER RUN  ' : 'earlier run  ';
  const lines = hanging(label, clean(unfinished.sentence), options.width);
  return lines.map((line, index) =>
    index === 0
      ? options.paint(unfinished.otherBoot ? 'danger' : 'warning', line.slice(0, label.length)) +
        line.slice(label.length)
      : line,
  );
}

/** Kinds that cannot be used here, with the reason. */
export function unsupportedLines(
  kinds: readonly KindSupport[],
  asked: ReadonlySet<string>,
  options: RenderOptions,
): string[] {
  const rows = kinds
    .filter(({ kind, supported }) => !supported && asked.has(kind))
    .map(({ kind, reason }) => [kind, 'not here', clean(reason ?? 'unknown')]);
  return table([{ align: 'left' }, { align: 'left' }, { align: 'left', flexible: true }], rows, options.width);
}

/** The last lines, next to the prompt: a word in its colour, what it means, and what to do or to type. */
export function closing(
  word: string,
  style: Style,
  words: string,
  next: string | null,
  options: RenderOptions,
): string[] {
  const label = `${word.toUpperCase()}  `;
  const [first = '', ...more] = hanging(label, clean(words), options.width);
  const lines = [options.paint(style, first.slice(0, label.length)) + first.slice(label.length), ...more];
  if (next === null) return lines;
  return [...lines, ...hanging(`${' '.repeat(label.length)}${options.unicode ? '→ ' : '-> '}`, next, options.width)];
}

/** Sections with a blank line between them; empty ones are left out. */
export function sections(...parts: readonly (readonly string[])[]): string[] {
  return parts.filter((lines) => lines.length > 0).flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]));
}

export function settledLines(settled: Settled, options: RenderOptions): string[] {
  const { afterMs, missing } = settled;
  const when = settled.settled
    ? `settled after ${formatDuration(afterMs)}`
    : `still moving after ${formatDuration(afterMs)}`;
  const changes = [
    ['MemAvailable', settled.memAvailableChange],
    ['MemFree', settled.memFreeChange],
    ['CUDA free', settled.cudaFreeChange],
  ] as const;
  const against = changes
    .filter(([, bytes]) => bytes !== null)
    .map(([name, bytes]) => `${name} ${moved(bytes, options.unicode)}`)
    .join(dot(options));
  const lines = hanging(
    'Afterwards   ',
    `${when}${against === '' ? '' : `; against before: ${against}`}`,
    options.width,
  );
  if (missing === null) return [...lines, `${' '.repeat(13)}all of it came back`];
  return [
    ...lines,
    ...hanging(
      `${' '.repeat(13)}`,
      `${formatBoth(missing.bytes)} did not come back: ${clean(missing.explanation)}`,
      options.width,
    ).map((line) => options.paint('warning', line)),
  ];
}
