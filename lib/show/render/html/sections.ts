/** Sections and parts of them that pages share. */
import { formatBoth, formatDuration } from '../../../base/format.ts';
import { usersText } from '../../../core/memory/others.ts';
import type { AllocatorKind, ProbeHeader, RecordedSession, Settled } from '../../../types/index.ts';
import { kindStyle } from '../kinds.ts';
import { moved } from '../numbers.ts';
import { dayAndTime, timeOfDay } from '../record-facts.ts';
import { type Content, html, type Markup, scrollTable } from './markup.ts';

/** Every browser has the Unicode minus. */
export const UNICODE = true;

export function section(title: string, ...content: readonly Content[]): Markup {
  return html`<section><h2>${title}</h2>${content}</section>\n`;
}

/** A section with one table; null: the table has no row. Tables of several sessions have another name each. */
export function tableSection(
  title: string,
  caption: string,
  head: Markup,
  rows: readonly Markup[],
  session: Pick<RecordedSession, 'startedAt'> | null = null,
): Markup | null {
  const name = session === null ? title : `${title}, session of ${dayAndTime(session.startedAt)}`;
  return rows.length === 0 ? null : section(title, scrollTable(name, caption, head, rows));
}

/** A stretch of time in which `held` stayed the same. */
export function plateauRow(from: string, to: string, held: string): Markup {
  return html`<tr><th scope="row">${timeOfDay(from)}</th><td>${timeOfDay(to)}</td><td>${formatDuration(Date.parse(to) - Date.parse(from))}</td><td>${held}</td></tr>\n`;
}

/** The head of a table. `hasEnd`: of steps or trials, whose last column is a sentence. */
export function headRow(heads: readonly string[], { hasEnd = false } = {}): Markup {
  const end = hasEnd ? html`<th scope="col" class="left">ended</th>` : null;
  return html`<tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}${end}</tr>`;
}

export interface Figure {
  term: string;
  value: Content;
  /** A line below, in small print. */
  more: string;
  /** Colours it; absent: it is of no kind. */
  kind?: AllocatorKind;
}

/** The main results, in large print. */
export function figures(list: readonly Figure[]): Markup {
  return html`<section><dl class="figures">${list.map(
    ({ term, value, more, kind }) =>
      html`<div${kind === undefined ? null : html` class="${kindStyle(kind)}"`}><dt>${term}</dt><dd class="value">${value}</dd><dd class="small soft">${more}</dd></div>`,
  )}</dl></section>\n`;
}

/** Terms and their descriptions; null is left out. */
export function list(rows: readonly (readonly [string, Content] | null)[]): Markup {
  const shown = rows.filter((row) => row !== null);
  return html`<dl class="list">${shown.map(([term, description]) => html`<dt>${term}</dt><dd>${description}</dd>`)}</dl>`;
}

/** Place in which the script draws the charts. */
export function charts(): Markup {
  return html`<div id="charts"></div><noscript><p class="soft">The charts need JavaScript; every number is in a table below.</p></noscript>`;
}

export function kindName(kind: AllocatorKind): Markup {
  return html`<span class="${kindStyle(kind)}"><span class="name">${kind}</span></span>`;
}

/** Machine of the probe, and the source of each number. */
export function machineSection(report: ProbeHeader): Markup {
  const { device, host, floor, others, journal, bootId, timeScale, kinds } = report;
  const scale = timeScale === null || timeScale === 1 ? '' : `; time ran ${timeScale}:1, durations are simulated`;
  const rows: (readonly [string, Content] | null)[] = [
    ['Device', `GPU ${device.index}, ${device.name ?? 'unnamed'}${device.uuid === null ? '' : `, ${device.uuid}`}`],
    ['Device memory', `${formatBoth(device.total)} by cudaMemGetInfo; ${device.memoryModel}`],
    ['Host memory', `${formatBoth(host.available)} available of ${formatBoth(host.total)} at the start`],
    ['Floor', floor === null ? 'none: no host memory is used' : `${formatBoth(floor.bytes)}: ${floor.from}`],
    others === null ? null : ['Other users', others.processes.length > 0 ? usersText(others) : 'not known by name'],
    ['Driver', `${device.driverVersion ?? 'unknown'}; CUDA ${device.cudaVersion ?? 'unknown'}`],
    ['Machine', report.simulated === null ? 'hardware' : `simulated: ${report.simulated}${scale}`],
    bootId === null ? null : ['Boot', html`<code>${bootId}</code>`],
    ['Duration', formatDuration(report.durationMs)],
    ['Journal', journal === null ? 'none' : html`<code>${journal}</code>`],
  ];
  const support = kinds.map(
    ({ kind, supported, call, reason }) =>
      [kind, supported ? (call ?? 'unknown') : `unsupported: ${reason ?? 'unknown'}`] as const,
  );
  return section(
    'The machine',
    list(rows),
    html`<details><summary>Kinds of memory and the functions behind them</summary>${list(support)}</details>`,
    html`<details><summary>Where each number comes from, or why it is missing</summary>${list(Object.entries(report.from))}</details>`,
    saveButton(),
  );
}

/** Saves the document of the page; hidden where scripts are off. */
export function saveButton(): Markup {
  return html`<p><button type="button" id="save" hidden>Save the data as JSON</button></p>`;
}

/** Way of touching the memory; `isWritten`: false if nothing did, as `stress` leaves memory unless it verifies. */
export function touchSentence({ touch }: ProbeHeader, isWritten = true): string {
  if (!isWritten) return 'Nothing was written to the memory: --verify writes every byte, and reads it back.';
  return touch.by === 'kernel'
    ? 'A kernel on the GPU wrote every byte.'
    : `The GPU wrote every byte with cudaMemset, because umaprobe's kernel could not be loaded: ${touch.reason ?? 'unknown'}.`;
}

export function settledSection(settled: Settled): Markup {
  const { missing } = settled;
  return section(
    'Afterwards',
    html`<p>${settled.settled ? 'Memory had settled' : 'Memory was still moving'} ${formatDuration(settled.afterMs)} after everything was freed and the process had exited. ${
      missing === null
        ? 'All of it came back.'
        : html`<strong class="warn">${formatBoth(missing.bytes)} did not come back</strong>: ${missing.explanation}.`
    }</p>`,
    list([
      ['MemAvailable', moved(settled.memAvailableChange, UNICODE)],
      ['MemFree', moved(settled.memFreeChange, UNICODE)],
      ['CUDA free', moved(settled.cudaFreeChange, UNICODE)],
    ]),
  );
}
