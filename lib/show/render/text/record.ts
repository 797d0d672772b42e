/** A recording: the end of each session, the course of the memory, and the last seconds. */
import {
  capitalized,
  clean,
  formatBytes,
  formatCount,
  formatDuration,
  formatPercent,
  GiB,
  inGiB,
} from '../../../base/format.ts';
import { NOTHING_RECORDED } from '../../../core/memory/remedies.ts';
import type { RecordedProcesses, RecordedSession, RecordReport, SeriesPoint } from '../../../types/index.ts';
import { tickText } from '../axis.ts';
import type { RenderOptions } from '../options.ts';
import { plot } from '../plot.ts';
import { endOf, figuresOf, growthText, lowestProcessesTitle, spanText, timeOfDay } from '../record-facts.ts';
import { hanging, truncate } from '../text-layout.ts';
import { headedTable, labelled, sections, simulatedBand } from './frame.ts';

/** Rows of a list on the screen. */
const LISTED = 5;
/** Rows of the last seconds. */
const LAST_ROWS = 12;

export function recordPage(report: RecordReport, options: RenderOptions): string[] {
  const { problems, sessions } = report;
  return sections(
    ...sessions.map((session) => sessionLines(session, options)),
    sessions.length === 0 ? labelled('NONE', 'notice', capitalized(NOTHING_RECORDED), options) : [],
    problems.flatMap(({ bytes, message, offset, segment }) =>
      hanging(
        'note  ',
        `${clean(segment)}, byte ${formatCount(offset)}: ${formatCount(bytes)} bytes: ${message}.`,
        options.width,
      ),
    ),
  );
}

function sessionLines(session: RecordedSession, options: RenderOptions): string[] {
  const { simulated } = session;
  const { label, sentence, style } = endOf(session);
  return sections(
    [...simulatedBand(simulated, options), ...labelled(label, style, clean(sentence), options)],
    [options.paint('strong', truncate(titleOf(session), options.width))],
    session.growth.flatMap((growth) => labelled('GROWS', 'warning', clean(growthText(growth)), options)),
    factLines(session, options),
    graph(session, options),
    lastSeconds(session, options),
    lowestProcessLines(session, options),
    lastProcessLines(session, options),
    markLines(session, options),
    noteLines(session, options),
    kernelLines(session, options),
  );
}

function titleOf(session: RecordedSession): string {
  return `${clean(session.hostName)}, ${formatBytes(session.total)}  ${spanText(session)}`;
}

function factLines(session: RecordedSession, options: RenderOptions): string[] {
  const { leftOut, plateaus, transients } = session;
  const more = transients.length - LISTED + leftOut.transients;
  const [longest] = plateaus;
  const facts: [string, string | null][] = [
    ...figuresOf(session),
    [
      'transients',
      transients.length === 0
        ? null
        : transients
            .slice(0, LISTED)
            .map(
              ({ at, bytes, durationMs }) =>
                `${formatBytes(bytes)} for ${formatDuration(durationMs)} at ${timeOfDay(at)}`,
            )
            .concat(more > 0 ? [`and ${formatCount(more)} more`] : [])
            .join('; '),
    ],
    [
      'longest plateau',
      longest === undefined
        ? null
        : `${formatBytes(longest.free)} free, ${timeOfDay(longest.from)} to ${timeOfDay(longest.to)}`,
    ],
  ];
  return facts.flatMap(([name, value]) =>
    value === null ? [] : hanging(name.padEnd(18), clean(value), options.width),
  );
}

function graph({ series, startedAt }: RecordedSession, options: RenderOptions): string[] {
  const start = Date.parse(startedAt);
  const line = (of: (point: SeriesPoint) => number | null): (readonly [number, number])[] =>
    series.flatMap((point) => {
      const value = of(point);
      return value === null ? [] : [[(Date.parse(point.at) - start) / 1000, value / GiB] as const];
    });
  return plot(
    {
      title: 'GiB over seconds',
      series: [
        {
          letter: 'a',
          name: 'MemAvailable',
          style: 'anonymous',
          points: line(({ available }) => available),
          bare: true,
        },
        { letter: 'f', name: 'MemFree', style: 'free', points: line(({ lowestFree }) => lowestFree), bare: true },
      ],
      xText: (x) => `${tickText(x)} s`,
      yText: tickText,
    },
    options,
  );
}

function lastSeconds({ end, lastSeconds: points }: RecordedSession, { paint, width }: RenderOptions): string[] {
  if (points.length === 0 || (end !== 'machine-lost' && end !== 'lost')) return [];
  // One row a second, and the last one.
  const step = Math.max(1, Math.ceil(points.length / (LAST_ROWS - 1)));
  const rows = points.filter((_, index) => (points.length - 1 - index) % step === 0);
  return headedTable(
    ['left', 'right', 'right', 'right', 'right', 'right'],
    [
      ['the last seconds', 'free GiB', 'available', 'some wait', 'all wait', 'swap'],
      ...rows.map(({ at, available, fullPercent, lowestFree, somePercent, swapUsed }) => [
        timeOfDay(at),
        inGiB(lowestFree),
        inGiB(available),
        formatPercent(somePercent),
        formatPercent(fullPercent),
        formatBytes(swapUsed),
      ]),
    ],
    width,
    paint,
  );
}

function lowestProcessLines(session: RecordedSession, options: RenderOptions): string[] {
  const title = lowestProcessesTitle(session);
  return title === null ? [] : processLines(title, session.lowestProcesses, options);
}

function lastProcessLines({ lowestProcesses, processes }: RecordedSession, options: RenderOptions): string[] {
  if (processes === null || processes.at === lowestProcesses?.at) return [];
  return processLines(`largest processes at the end, ${timeOfDay(processes.at)}`, processes, options);
}

function processLines(title: string, processes: RecordedProcesses | null, { paint, width }: RenderOptions): string[] {
  if (processes === null) return [];
  const listed = processes.processes.slice(0, LISTED);
  const withGpu = listed.some(({ gpuBytes }) => (gpuBytes ?? 0) > 0);
  const gpu = (text: string): string[] => (withGpu ? [text] : []);
  const rows = listed.map(({ gpuBytes, held, name, pid }) => [
    formatBytes(held),
    ...gpu((gpuBytes ?? 0) > 0 ? formatBytes(gpuBytes) : ''),
    String(pid),
    clean(name ?? ''),
  ]);
  return headedTable(
    ['right', ...gpu('').map(() => 'right' as const), 'right', 'flexible'],
    [['held', ...gpu('GPU'), 'pid', title], ...rows],
    width,
    paint,
  );
}

function markLines({ leftOut, marks }: RecordedSession, { paint, width }: RenderOptions): string[] {
  if (marks.length === 0) return [];
  const lines = marks.slice(-2 * LISTED).map(({ at, text }) => truncate(`${timeOfDay(at)}  ${clean(text)}`, width));
  return [paint('heading', 'marks'), ...lines, ...earlier(marks.length, lines.length, leftOut.marks)];
}

function noteLines({ leftOut, notes }: RecordedSession, { width }: RenderOptions): string[] {
  const shown = notes.slice(-LISTED);
  return [
    ...shown.flatMap(({ at, text }) => hanging('note  ', `${timeOfDay(at)}  ${clean(text)}`, width)),
    ...earlier(notes.length, shown.length, leftOut.notes),
  ];
}

function kernelLines({ kernelMessages, leftOut }: RecordedSession, { paint, width }: RenderOptions): string[] {
  if (kernelMessages.length === 0) return [];
  const lines = kernelMessages
    .slice(-LISTED)
    .map(({ at, text }) => truncate(`${timeOfDay(at)}  ${clean(text)}`, width));
  return [
    paint('heading', 'messages of the kernel'),
    ...lines,
    ...earlier(kernelMessages.length, lines.length, leftOut.kernelMessages),
  ];
}

/** Counts entries that are not shown: those of a list, and those that the list itself has no room for. */
function earlier(listed: number, shown: number, leftOut: number): string[] {
  const rest = listed - shown + leftOut;
  if (rest === 0) return [];
  const which = leftOut === 0 ? 'all' : `the newest ${formatCount(listed)}`;
  return [`and ${formatCount(rest)} earlier ones; --json lists ${which}`];
}
