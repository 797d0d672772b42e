/** The HTML page of a sweep. */
import { isEager, liesOnHost } from '../../../core/memory/kinds.ts';
import type { AllocatorKind, SweepReport, SweepStep, Times } from '../../../types/index.ts';
import { COUNTERS, comparable, isNoise } from '../counters.ts';
import { median, moved, ms, rate, sizeText } from '../numbers.ts';
import { isMeasured } from '../sweep-steps.ts';
import { html, type Markup } from './markup.ts';
import type { Assets } from './page.ts';
import { probePage } from './probe-page.ts';
import {
  charts,
  type Figure,
  figures,
  kindName,
  machineSection,
  scrollTable,
  section,
  touchSentence,
  UNICODE,
} from './sections.ts';

export function sweepHtml(report: SweepReport, assets: Assets): string {
  return probePage(
    report,
    {
      title: 'Allocation sweep',
      sections: [
        figures(keyFigures(report)),
        noticesSection(report),
        chartsSection(report),
        countersSection(report),
        stepsSection(report),
        methodSection(report),
        machineSection(report),
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
    return { term: `${kind}: largest`, value: bytes === null ? 'none' : sizeText(bytes), more, kind };
  });
}

/** Facts that a reader must know before the charts: an end that was not regular, and spills. */
function noticesSection(report: SweepReport): Markup | null {
  const sentences = report.spills.map(
    ({ kind, sentence }) => html`<p class="notice">${kindName(kind)} ${sentence}</p>`,
  );
  if (report.state !== 'complete')
    sentences.unshift(html`<p class="notice"><strong>${report.state}</strong> ${report.reason ?? ''}</p>`);
  return sentences.length === 0 ? null : html`<section>${sentences}</section>`;
}

function chartsSection({ steps }: SweepReport): Markup | null {
  if (steps.every((step) => step.allocMs === null)) return null;
  return section(
    'Over the size',
    html`<fieldset id="axes" class="switches" hidden><legend>Axes</legend><label><input type="radio" name="axes" value="linear"> linear</label><label><input type="radio" name="axes" value="log"> logarithmic</label></fieldset>`,
    charts(),
  );
}

function countersSection({ steps }: SweepReport): Markup | null {
  const chosen = comparable(steps);
  const [first] = chosen;
  if (first === undefined) return null;
  const same = chosen.every((step) => step.requestedBytes === first.requestedBytes);
  const heads = chosen.map(
    (step) =>
      html`<th colspan="2" scope="colgroup">${kindName(step.kind)}${same ? null : ` ${sizeText(step.requestedBytes)}`}</th>`,
  );
  const rows = COUNTERS.map(
    ([counter, name]) =>
      html`<tr><th scope="row">${name}</th>${chosen.map((step) => {
        const change = step.moved?.[counter];
        return [change?.afterAlloc ?? null, change?.afterTouch ?? null].map((bytes) => changeCell(bytes, step));
      })}</tr>\n`,
  );
  return section(
    `Which counters moved${same ? ` by ${sizeText(first.requestedBytes)}` : ''}`,
    scrollTable(
      'Counters that moved',
      'Change since the reading before the step. Each tool reads one of these counters: where they differ, tools disagree.',
      html`<tr><td></td>${heads}</tr><tr><td></td>${chosen.map(() => html`<th scope="col">allocated</th><th scope="col">touched</th>`)}</tr>`,
      rows,
    ),
  );
}

function changeCell(bytes: number | null, { requestedBytes }: SweepStep): Markup {
  const quiet = bytes === null || isNoise(bytes, requestedBytes);
  return html`<td${quiet ? html` class="soft"` : null}>${moved(bytes, UNICODE)}</td>`;
}

const HEADS = ['allocation, ms', 'first touch, ms', 'second touch, ms', 'GB/s', 'free, ms'];

function stepsSection(report: SweepReport): Markup {
  const tensors = report.steps.some(({ tensor }) => tensor !== null);
  const rows = report.steps.map((step) => {
    const size = html`<th scope="row">${kindName(step.kind)}</th><td>${sizeText(step.requestedBytes)}</td>`;
    const tensor = tensors ? html`<td class="left">${tensorText(step)}</td>` : null;
    const outcome = html`<tr>${size}${tensor}<td class="reason" colspan="${HEADS.length}">${step.state}${step.reason === null ? '' : `: ${step.reason}`}</td></tr>\n`;
    if (!isMeasured(step)) return outcome;
    return html`${step.state === 'ok' ? null : outcome}<tr>${size}${tensor}${timeCell(step.allocMs, report)}${timeCell(step.firstTouchMs, report)}${timeCell(step.secondTouchMs, report)}<td>${rate(step.gbPerSecond)}</td>${timeCell(step.freeMs, report)}</tr>\n`;
  });
  const heads = ['size', ...(tensors ? ['tensor'] : []), ...HEADS];
  return section(
    'Every step',
    scrollTable(
      'Every step',
      report.repeat > 1
        ? `Medians of ${report.repeat} repeats; below each, the fastest and the slowest.`
        : 'Times and bandwidth of each step.',
      html`<tr><th scope="col" class="left">kind</th>${heads.map((head) => html`<th scope="col"${head === 'tensor' ? html` class="left"` : null}>${head}</th>`)}</tr>`,
      rows,
    ),
  );
}

function timeCell(times: Times | null, { repeat }: SweepReport): Markup {
  if (times === null) return html`<td>${median(times)}</td>`;
  return html`<td>${median(times)}${repeat > 1 ? html`<small>${ms(times.min)}–${ms(times.max)}</small>` : null}</td>`;
}

function tensorText({ tensor }: SweepStep): string {
  if (tensor === null) return '';
  const what = tensor.shape === null ? `${tensor.elements.toLocaleString('en-US')} elements` : tensor.shape.join(' × ');
  return `${tensor.dtype} ${what}${tensor.note === null ? '' : ` (${tensor.note})`}`;
}

function methodSection(report: SweepReport): Markup {
  const kinds = [...new Set(report.steps.map(({ kind }) => kind))];
  return section(
    'How it was measured',
    html`<p>Each step ran ${report.repeat === 1 ? 'once' : `${report.repeat} times`} in a separate process that can be killed safely: allocate, write every byte, write every byte again, free. ${touchSentence(report)} Times are those of the calls alone; the bandwidth is the size divided by the median of the second touch, in 10⁹ bytes per second.</p>`,
    html`<p>Before each step its cost was checked against the floor; a step that would have crossed it was refused, with the reason. 1 GB is 10⁹ bytes, 1 GiB is 2³⁰.</p>`,
    html`<p>${kinds.map((kind, index) => html`${index === 0 ? '' : ' · '}${kindName(kind)} ${allocation(kind, report)}`)}.</p>`,
  );
}

/** "cudaMallocManaged: page by page, on first touch": the call of this run, and what holds for the kind everywhere. */
function allocation(kind: AllocatorKind, { kinds }: SweepReport): string {
  const call = kinds.find((support) => support.kind === kind)?.call ?? 'no call here';
  const pages = isEager(kind) ? 'all pages at once' : 'page by page, on first touch';
  return `${call}: ${pages}${liesOnHost(kind) ? ', in host memory' : ''}`;
}
