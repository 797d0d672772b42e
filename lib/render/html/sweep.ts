/** The page of a sweep. */

import { isEager, liesOnHost } from '../../memory/kinds.ts';
import type { AllocatorKind, SweepReport, SweepStep, Times } from '../../types/index.ts';
import { COUNTERS, comparable, isNoise } from '../counters.ts';
import { median, moved, ms, rate, sizeWords } from '../numbers.ts';
import { html, type Markup } from './markup.ts';
import { type Assets, page } from './page.ts';
import { type Figure, figures, kindName, machine, section, touchSentence, UNICODE } from './sections.ts';

export function sweepHtml(report: SweepReport, assets: Assets): string {
  return page(
    report,
    {
      what: 'Allocation sweep',
      sections: [
        figures(keyFigures(report)),
        outcome(report),
        charts(report),
        counters(report),
        steps(report),
        method(report),
        machine(report),
      ],
    },
    assets,
  );
}

function keyFigures({ steps, largest }: SweepReport): Figure[] {
  const kinds = [...new Set(steps.map(({ kind }) => kind))];
  return kinds.map((kind) => {
    const bytes = largest[kind];
    const top = steps.find((step) => step.kind === kind && step.requestedBytes === bytes && step.state === 'ok');
    const more =
      top === undefined
        ? 'nothing was measured'
        : `allocated in ${median(top.allocMs)} ms, first touch ${median(top.firstTouchMs)} ms, then ${rate(top.gbPerSecond)} GB/s`;
    return { term: `${kind}: largest`, value: bytes === null ? 'none' : sizeWords(bytes), more, kind };
  });
}

/** Only what a reader must know before the charts: how it ended where it did not end well, and spills. */
function outcome(report: SweepReport): Markup | null {
  const sentences = report.spills.map(
    ({ kind, sentence }) => html`<p class="notice">${kindName(kind)} ${sentence}</p>`,
  );
  if (report.state !== 'complete')
    sentences.unshift(html`<p class="notice"><strong>${report.state}</strong> ${report.reason ?? ''}</p>`);
  return sentences.length === 0 ? null : html`<section>${sentences}</section>`;
}

function charts({ steps }: SweepReport): Markup | null {
  const sizes = steps.filter((step) => step.allocMs !== null).map(({ requestedBytes }) => requestedBytes);
  if (sizes.length === 0) return null;
  // As in the terminal: evenly spaced sizes want a linear axis, doubled ones a logarithmic one.
  const wide = Math.max(...sizes) / Math.min(...sizes) > 20;
  return section(
    'Over the size',
    html`<div class="switches"><label><input type="checkbox" id="log-x"${wide ? html` checked` : null}> sizes logarithmic</label><label><input type="checkbox" id="log-y"> times and rates logarithmic</label></div><div id="charts"></div><noscript><p class="soft">The charts need JavaScript; every number of theirs stands in the tables below.</p></noscript>`,
  );
}

function counters({ steps }: SweepReport): Markup | null {
  const chosen = comparable(steps);
  const [first] = chosen;
  if (first === undefined) return null;
  const same = chosen.every((step) => step.requestedBytes === first.requestedBytes);
  const heads = chosen.map(
    (step) =>
      html`<th colspan="2" scope="colgroup">${kindName(step.kind)}${same ? null : ` ${sizeWords(step.requestedBytes)}`}</th>`,
  );
  const rows = COUNTERS.map(
    ([counter, name]) =>
      html`<tr><th scope="row">${name}</th>${chosen.map((step) => {
        const change = step.moved?.[counter];
        return [change?.afterAlloc ?? null, change?.afterTouch ?? null].map((bytes) => change_(bytes, step));
      })}</tr>\n`,
  );
  return section(
    `Which counters moved${same ? ` by ${sizeWords(first.requestedBytes)}` : ''}`,
    html`<p class="soft">Against the reading before the step. Each tool looks at one of these lines: where they differ, tools disagree.</p>`,
    html`<div class="scroll"><table><thead><tr><td></td>${heads}</tr><tr><td></td>${chosen.map(() => html`<th scope="col">allocated</th><th scope="col">touched</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>`,
  );
}

function change_(bytes: number | null, { requestedBytes }: SweepStep): Markup {
  const quiet = bytes === null || isNoise(bytes, requestedBytes);
  return html`<td${quiet ? html` class="soft"` : null}>${moved(bytes, UNICODE)}</td>`;
}

const HEADS = ['allocation, ms', 'first touch, ms', 'second touch, ms', 'GB/s', 'free, ms'];

function steps(report: SweepReport): Markup {
  const tensors = report.steps.some(({ tensor }) => tensor !== null);
  const rows = report.steps.map((step) => {
    const size = html`<td class="left">${kindName(step.kind)}</td><td>${sizeWords(step.requestedBytes)}</td>`;
    const tensor = tensors ? html`<td class="left">${tensorWords(step)}</td>` : null;
    if (step.allocMs === null)
      return html`<tr>${size}${tensor}<td class="words" colspan="${HEADS.length}">${step.state}${step.reason === null ? '' : `: ${step.reason}`}</td></tr>\n`;
    return html`<tr>${size}${tensor}${time(step.allocMs, report)}${time(step.firstTouchMs, report)}${time(step.secondTouchMs, report)}<td>${rate(step.gbPerSecond)}</td>${time(step.freeMs, report)}</tr>\n`;
  });
  const heads = ['size', ...(tensors ? ['tensor'] : []), ...HEADS];
  return section(
    'Every step',
    html`<div class="scroll"><table><thead><tr><th scope="col" class="left">kind</th>${heads.map((head) => html`<th scope="col"${head === 'tensor' ? html` class="left"` : null}>${head}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>`,
    report.repeat > 1
      ? html`<p class="small soft">Medians of ${report.repeat}; below each the fastest and the slowest.</p>`
      : null,
  );
}

function time(times: Times | null, { repeat }: SweepReport): Markup {
  if (times === null) return html`<td>${median(times)}</td>`;
  return html`<td>${median(times)}${repeat > 1 ? html`<small>${ms(times.min)}–${ms(times.max)}</small>` : null}</td>`;
}

function tensorWords({ tensor }: SweepStep): string {
  if (tensor === null) return '';
  const what = tensor.shape === null ? `${tensor.elements.toLocaleString('en-US')} elements` : tensor.shape.join(' × ');
  return `${tensor.dtype} ${what}${tensor.note === null ? '' : ` (${tensor.note})`}`;
}

function method(report: SweepReport): Markup {
  const kinds = [...new Set(report.steps.map(({ kind }) => kind))];
  return section(
    'How it was measured',
    html`<p>Each step was made ${report.repeat === 1 ? 'once' : `${report.repeat} times`} in a process of its own that can be ended without harm: allocate, write every byte, write every byte again, free. ${touchSentence(report)} Times are those of the calls alone; the bandwidth is the size over the median of the second touch, in 10⁹ bytes a second.</p>`,
    html`<p>Before each step its cost was checked against the floor; a step that would have passed it was not made and says so. 1 GB is 10⁹ bytes, 1 GiB is 2³⁰.</p>`,
    html`<p>${kinds.map((kind, index) => html`${index === 0 ? '' : ' · '}${kindName(kind)} ${allocation(kind, report)}`)}.</p>`,
  );
}

/** "cudaMallocManaged: page by page, on first touch": the call of this run, and what holds for the kind everywhere. */
function allocation(kind: AllocatorKind, { kinds }: SweepReport): string {
  const call = kinds.find((support) => support.kind === kind)?.call ?? 'no call here';
  const pages = isEager(kind) ? 'all pages at once' : 'page by page, on first touch';
  return `${call}: ${pages}${liesOnHost(kind) ? ', in host memory' : ''}`;
}
