/** The charts of a machine over time, the same as tables, and its marks. */
import { formatBytes, formatPercent } from '../../lib/base/format.ts';
import { clockText } from '../../lib/show/render/axis.ts';
import { html, type Markup, scrollTable } from '../../lib/show/render/html/markup.ts';
import { dayAndTime } from '../../lib/show/render/record-facts.ts';
import type { SeriesPoint } from '../../lib/types/index.ts';
import { type Chart, createChart } from '../chart.ts';
import type { ChartSpec } from '../lines.ts';
import { pointsOf, type SessionCourse, secondsOf } from '../report/points.ts';
import { specsOf } from '../report/record.ts';
import { theme } from '../theme.ts';
import { createZoom, type Zoom } from '../zoom.ts';
import { zoomButtons } from '../zoom-buttons.ts';
import { morphInto } from './morph.ts';

/** Shown at first of a longer history, in seconds. */
const FIRST_SPAN = 3600;
const SHORTEST_SPAN = 10;
/** Rows of the table: parts of the time that is shown. */
const ROWS = 12;
const MARKS = 50;

export class HistoryView {
  readonly #charts: HTMLElement;
  readonly #tables: HTMLElement;
  readonly #host: string;
  #zoom: Zoom | null = null;
  #shown = new Map<string, { chart: Chart; lines: string }>();

  constructor(section: HTMLElement, host: string) {
    const part = (name: string): HTMLElement => section.querySelector(`[${name}]`) as HTMLElement;
    this.#charts = part('data-charts');
    this.#tables = part('data-history');
    this.#host = host;
  }

  /** @param before text about the time before this page. */
  draw(course: SessionCourse, before: string | null): void {
    const points = pointsOf(course);
    const [first, last] = [points[0], points.at(-1)];
    const hasCharts = first !== undefined && last !== undefined && points.length >= 2;
    const zoom = hasCharts ? this.#drawCharts(course, points, first, last) : null;
    morphInto(this.#tables, this.#below(course, zoom, before).text);
  }

  #drawCharts(course: SessionCourse, points: readonly SeriesPoint[], first: SeriesPoint, last: SeriesPoint): Zoom {
    const zoom = this.#zoomTo(secondsOf(first.at), secondsOf(last.at) + last.spanMs / 1000);
    const specs = specsOf(course, points, zoom);
    for (const [title, { chart }] of this.#shown)
      if (!specs.some((spec) => spec.title === title)) {
        chart.remove();
        this.#shown.delete(title);
      }
    for (const spec of specs) this.#show(spec);
    return zoom;
  }

  /** Draws in the colours of another theme. */
  redraw(): void {
    const colours = theme();
    for (const { chart } of this.#shown.values()) chart.draw(colours, false);
  }

  #zoomTo(from: number, to: number): Zoom {
    if (this.#zoom !== null && this.#zoom.whole.from === from) {
      this.#zoom.extend(to);
      return this.#zoom;
    }
    // The history has come, or its oldest points have gone.
    const before = this.#zoom?.span();
    const followed = this.#zoom === null || this.#zoom.span().to === this.#zoom.whole.to;
    const zoom = createZoom({ from, to }, SHORTEST_SPAN);
    const length = Math.max(FIRST_SPAN, before === undefined ? 0 : before.to - before.from);
    if (followed) zoom.show({ from: to - length, to });
    else if (before !== undefined) zoom.show(before);
    this.#zoom = zoom;
    for (const { chart } of this.#shown.values()) chart.remove();
    this.#shown.clear();
    this.#charts.replaceChildren(
      zoomButtons(
        zoom,
        (span) => `${clockText(span.from, span.to - span.from)} to ${clockText(span.to, span.to - span.from)} UTC`,
      ),
    );
    return zoom;
  }

  #show(spec: ChartSpec): void {
    const lines = spec.lines.map(({ name }) => name).join('\n');
    const shown = this.#shown.get(spec.title);
    if (shown?.lines === lines) {
      shown.chart.update(spec);
      return;
    }
    shown?.chart.remove();
    const chart = createChart(this.#charts, spec);
    chart.draw(theme(), false);
    this.#shown.set(spec.title, { chart, lines });
  }

  #below(course: SessionCourse, zoom: Zoom | null, before: string | null): Markup {
    return html`<div>${before === null ? null : html`<p>${before}</p>`}</div>${zoom === null ? null : this.#chartTable(course, zoom)}${processTable(course, this.#host)}${markTable(course, this.#host)}`;
  }

  #chartTable(course: SessionCourse, zoom: Zoom): Markup {
    const { from, to } = zoom.span();
    const inSpan = pointsOf(course).filter(({ at }) => secondsOf(at) >= from && secondsOf(at) <= to);
    const length = Math.max(1, (to - from) / ROWS);
    const known = (values: readonly (number | null)[], text: (known: readonly number[]) => string): string => {
      const numbers = values.filter((value) => value !== null);
      return numbers.length === 0 ? 'unknown' : text(numbers);
    };
    const lowest = (values: readonly (number | null)[]) => known(values, (all) => formatBytes(Math.min(...all)));
    const highest = (values: readonly (number | null)[]) => known(values, (all) => formatPercent(Math.max(...all)));
    const rows = Array.from({ length: ROWS }, (_, row) => {
      const start = from + row * length;
      const bin = inSpan.filter(({ at }) => secondsOf(at) >= start && secondsOf(at) < start + length);
      return html`<tr><th scope="row">${clockText(start, 1)}</th><td>${lowest(bin.map((point) => point.lowestAvailable))}</td><td>${lowest(bin.map((point) => point.lowestFree))}</td><td>${highest(bin.map((point) => point.somePercent))}</td><td>${highest(bin.map((point) => point.fullPercent))}</td></tr>`;
    });
    return html`<details><summary>The charts as a table</summary>${scrollTable(
      `Memory of ${this.#host} over time`,
      'Lowest memory and highest pressure from each time on.',
      html`<tr><th scope="col">from, UTC</th><th scope="col">MemAvailable</th><th scope="col">MemFree</th><th scope="col">some waited</th><th scope="col">all waited</th></tr>`,
      rows,
    )}</details>`;
  }
}

function processTable({ processSeries }: SessionCourse, host: string): Markup | null {
  if (processSeries.processes.length === 0) return null;
  const largest = processSeries.processes.toSorted((a, b) => b.highestHeld - a.highestHeld).slice(0, ROWS);
  return html`<details><summary>Processes as a table</summary>${scrollTable(
    `Processes of ${host} over time`,
    'What each process held first, at most and in the last list.',
    html`<tr><th scope="col">process</th><th scope="col">pid</th><th scope="col">first</th><th scope="col">at most</th><th scope="col">now</th></tr>`,
    largest.map(({ held, highestHeld, name, pid }) => {
      const now = held.at(-1) ?? null;
      const first = held.find((bytes) => bytes !== null) ?? null;
      return html`<tr><th scope="row">${name ?? 'unknown'}</th><td>${pid}</td><td>${formatBytes(first)}</td><td>${formatBytes(highestHeld)}</td><td>${now === null ? 'not listed' : formatBytes(now)}</td></tr>`;
    }),
  )}</details>`;
}

function markTable({ marks }: SessionCourse, host: string): Markup | null {
  if (marks.length === 0) return null;
  return html`<details><summary>Marks, and how recordings ended</summary>${scrollTable(
    `Marks of ${host}`,
    marks.length <= MARKS ? 'Newest first.' : `The newest ${MARKS}, newest first.`,
    html`<tr><th scope="col">at, UTC</th><th scope="col" class="left">mark</th></tr>`,
    marks
      .slice(-MARKS)
      .toReversed()
      .map(({ at, text }) => html`<tr><th scope="row">${dayAndTime(at)}</th><td class="reason">${text}</td></tr>`),
  )}</details>`;
}
