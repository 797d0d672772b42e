/** The HTML page of a recording: for each session how it ended, its figures, a timeline that can be zoomed, and lists. */
import { formatBytes, formatCount, formatDuration } from '../../../base/format.ts';
import type { RecordedSession, RecordReport } from '../../../types/index.ts';
import { endOf, figuresOf, growthText, lowestProcessesTitle, spanText, timeOfDay } from '../record-facts.ts';
import { type Content, html, type Markup } from './markup.ts';
import { type Assets, page, timeText } from './page.ts';
import { type Figure, figures, headRow, list, plateauRow, saveButton, section, tableSection } from './sections.ts';

export function recordHtml(report: RecordReport, assets: Assets): string {
  const { at, folder, problems, sessions } = report;
  const last = sessions.at(-1);
  const newestFirst = sessions.map((session, index) => sessionSections(session, index)).reverse();
  return page(
    report,
    {
      title: 'Recording of the memory',
      heading: last?.hostName ?? 'Nothing was recorded',
      simulated: last?.simulated ?? null,
      facts: [
        last === undefined ? null : formatBytes(last.total),
        last?.memoryModel == null ? null : `${last.memoryModel} memory`,
        `read ${timeText(at)}`,
      ],
      notices: problems.map(
        ({ bytes, message, offset, segment }) =>
          `${segment}, byte ${formatCount(offset)}: ${formatCount(bytes)} bytes: ${message}.`,
      ),
      sections: [
        ...newestFirst.flat(),
        section('The recording', list([['Folder', html`<code>${folder}</code>`]]), saveButton()),
      ],
    },
    assets,
  );
}

function sessionSections(session: RecordedSession, index: number): (Markup | null)[] {
  const { label, sentence, style } = endOf(session);
  const colour = style === 'ok' ? 'good' : style === 'danger' ? 'warn' : 'caution';
  return [
    section(
      spanText(session),
      html`<p class="notice ${colour}"><strong class="${colour}">${label}</strong> ${sentence}</p>`,
      ...session.growth.map(
        (growth) => html`<p class="notice caution"><strong class="caution">GROWS</strong> ${growthText(growth)}</p>`,
      ),
    ),
    figures(keyFigures(session)),
    timelineSection(session, index),
    section('In figures', list([...factsOf(session)])),
    transientsSection(session),
    plateausSection(session),
    lowestProcessesSection(session),
    processesSection(session),
    marksSection(session),
    timedSection('What the recorder could not do', 'note', session, session.notes, session.leftOut.notes),
    timedSection('Messages of the kernel', 'message', session, session.kernelMessages, session.leftOut.kernelMessages),
  ];
}

function keyFigures({ belowFloorMs, fastestFall, floor, lowestAvailable, lowestFree }: RecordedSession): Figure[] {
  const lowest = (term: string, value: RecordedSession['lowestFree']): Figure => ({
    term,
    value: value === null ? 'unknown' : formatBytes(value.bytes),
    more: value === null ? 'it was not read' : `at ${timeOfDay(value.at)}`,
  });
  return [
    lowest('Lowest MemAvailable', lowestAvailable),
    lowest('Lowest MemFree', lowestFree),
    {
      term: 'Below the floor',
      value: belowFloorMs > 0 ? formatDuration(belowFloorMs) : 'never',
      more: `the floor is ${formatBytes(floor)}`,
    },
    {
      term: 'Fastest fall',
      value: fastestFall === null ? 'none' : `${formatBytes(fastestFall.bytesPerSecond)}/s`,
      more: fastestFall === null ? 'MemFree never fell' : `at ${timeOfDay(fastestFall.at)}, over a second`,
    },
  ];
}

/** @param index of the session in the document of the page. */
export function timelineSection({ series }: RecordedSession, index: number): Markup | null {
  if (series.length === 0) return null;
  return section(
    'Timeline',
    html`<div class="timeline" data-session="${index}"></div>`,
    html`<p class="small soft">Drag over a chart to see that time alone; a double click shows all of it again. With the keyboard: the buttons, and in a chart ← → and Page Up, Page Down, Home and End.</p>`,
    html`<noscript><p class="soft">The charts need JavaScript; the figures below do not.</p></noscript>`,
  );
}

function factsOf(session: RecordedSession): (readonly [string, Content] | null)[] {
  const { architecture, bootId, frames, intervalMs } = session;
  return [
    ...figuresOf(session).map(([name, value]) => (value === null ? null : ([name, value] as const))),
    ['read', `MemFree every ${formatDuration(intervalMs)}; ${formatCount(frames)} frames`],
    ['architecture', architecture],
    ['boot', html`<code>${bootId ?? 'unknown'}</code>`],
  ];
}

function transientsSection(session: RecordedSession): Markup | null {
  const { leftOut, transients } = session;
  const count = transients.length + leftOut.transients;
  const which =
    leftOut.transients === 0 ? 'deepest first' : `the ${transients.length} deepest of ${formatCount(count)}`;
  return tableSection(
    'Transients',
    `Short falls of MemFree that came back by themselves, ${which}.`,
    headRow(['at, UTC', 'deep', 'for', 'lowest MemFree']),
    transients.map(
      ({ at, bytes, durationMs, lowestFree }) =>
        html`<tr><th scope="row">${timeOfDay(at)}</th><td>${formatBytes(bytes)}</td><td>${formatDuration(durationMs)}</td><td>${formatBytes(lowestFree)}</td></tr>\n`,
    ),
    session,
  );
}

function plateausSection(session: RecordedSession): Markup | null {
  return tableSection(
    'Plateaus',
    'Stretches of at least five seconds in which MemFree stayed within 1 % of MemTotal, longest first.',
    headRow(['from, UTC', 'to', 'for', 'MemFree']),
    session.plateaus.map(({ free, from, to }) => plateauRow(from, to, formatBytes(free))),
    session,
  );
}

function lowestProcessesSection(session: RecordedSession): Markup | null {
  const title = lowestProcessesTitle(session);
  if (title === null) return null;
  return tableSection(
    'Who held memory at the lowest point',
    `The ${title}.`,
    headRow(['process', 'pid', 'held', 'on the GPU']),
    (session.lowestProcesses?.processes ?? []).map(
      ({ gpuBytes, held, name, pid }) =>
        html`<tr><th scope="row">${name ?? 'unknown'}</th><td>${pid}</td><td>${formatBytes(held)}</td><td>${gpuBytes === null ? 'unknown' : formatBytes(gpuBytes)}</td></tr>\n`,
    ),
    session,
  );
}

export function processesSection(session: RecordedSession): Markup | null {
  const { processSeries, processes } = session;
  const atEnd = new Map(processes?.processes.map(({ held, pid }) => [pid, held]));
  const withGpu = processSeries.processes.some(({ highestGpuBytes }) => (highestGpuBytes ?? 0) > 0);
  const gpu = (bytes: number | null) =>
    withGpu ? html`<td>${bytes === null ? 'unknown' : formatBytes(bytes)}</td>` : null;
  return tableSection(
    'Largest processes',
    'What each process held at most, on the host and on the GPU, and in the last list.',
    headRow(['process', 'pid', 'held at most', ...(withGpu ? ['on the GPU at most'] : []), 'held at the end']),
    processSeries.processes.map(
      ({ highestGpuBytes, highestHeld, name, pid }) =>
        html`<tr><th scope="row">${name ?? 'unknown'}</th><td>${pid}</td><td>${formatBytes(highestHeld)}</td>${gpu(highestGpuBytes)}<td>${atEnd.has(pid) ? formatBytes(atEnd.get(pid) ?? null) : 'not among the largest'}</td></tr>\n`,
    ),
    session,
  );
}

export function marksSection(session: RecordedSession): Markup | null {
  return timedSection('Marks', 'mark', session, session.marks, session.leftOut.marks);
}

function timedSection(
  title: string,
  what: string,
  session: RecordedSession,
  entries: readonly { at: string; text: string }[],
  leftOut: number,
): Markup | null {
  const count = formatCount(entries.length);
  return tableSection(
    title,
    leftOut === 0
      ? `${count}, oldest first.`
      : `The newest ${count} of ${formatCount(entries.length + leftOut)}, oldest first.`,
    html`<tr><th scope="col">at, UTC</th><th scope="col" class="left">${what}</th></tr>`,
    entries.map(
      ({ at, text }) => html`<tr><th scope="row">${timeOfDay(at)}</th><td class="reason">${text}</td></tr>\n`,
    ),
    session,
  );
}
