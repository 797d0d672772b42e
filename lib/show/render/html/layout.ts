/** The HTML page of a layout. Its bars are part of the markup, so it needs no charts. */
import { formatBoth, inGB, inGiB } from '../../../base/format.ts';
import type { LayoutPart, LayoutReport } from '../../../types/index.ts';
import { COUNTERS, isNoise } from '../counters.ts';
import { kindStyle } from '../kinds.ts';
import { moved, ms } from '../numbers.ts';
import { cellBar } from './bar.ts';
import { html, type Markup, scrollTable } from './markup.ts';
import type { Assets } from './page.ts';
import { probePage } from './probe-page.ts';
import {
  type Figure,
  figures,
  list,
  machineSection,
  section,
  settledSection,
  touchSentence,
  UNICODE,
} from './sections.ts';

export function layoutHtml(report: LayoutReport, assets: Assets): string {
  return probePage(
    report,
    {
      title: 'Parts held at once',
      sections: [
        figures(keyFigures(report)),
        report.reason === null
          ? null
          : html`<section><p class="notice"><strong>${report.state}</strong> ${report.reason}</p></section>`,
        partsSection(report),
        countersSection(report),
        settledSection(report.settled),
        section(
          'How it was measured',
          html`<p>All parts were allocated one after the other in a separate process and held. ${touchSentence(report)} “Consumed” is the drop in ${report.consumedFrom} while all of them were held.</p>`,
        ),
        machineSection(report),
      ],
    },
    assets,
  );
}

function keyFigures({ kind, expectedBytes, allocatedBytes, consumedBytes, overheadBytes }: LayoutReport): Figure[] {
  return [
    { term: 'Expected', value: `${inGB(expectedBytes)} GB`, more: `${inGiB(expectedBytes)} GiB`, kind },
    { term: 'Allocated', value: `${inGB(allocatedBytes)} GB`, more: `${inGiB(allocatedBytes)} GiB`, kind },
    {
      term: 'Consumed',
      value: consumedBytes === null ? 'unknown' : `${inGB(consumedBytes)} GB`,
      more: overheadBytes === null ? 'overhead unknown' : `overhead ${moved(overheadBytes, UNICODE)}`,
      kind,
    },
  ];
}

const HEADS = ['GB', 'GiB', 'allocation, ms', 'first touch, ms'];

function partsSection(report: LayoutReport): Markup {
  const most = Math.max(1, ...report.parts.map((part) => part.expectedBytes));
  return section(
    'The parts',
    html`<div class="${kindStyle(report.kind)}">${scrollTable(
      'The parts',
      'Size of each part, and how long its allocation and first touch took.',
      html`<tr><th scope="col" class="left">part</th>${HEADS.map((head) => html`<th scope="col">${head}</th>`)}<td></td><th scope="col" class="left">ended</th></tr>`,
      html`${report.parts.map((part) => partRow(part, most))}<tr class="total"><th scope="row">all parts</th><td>${inGB(report.expectedBytes)}</td><td>${inGiB(report.expectedBytes)}</td><td></td><td></td><td></td><td></td></tr>`,
    )}</div>`,
  );
}

function partRow(part: LayoutPart, most: number): Markup {
  const ended = part.state === 'ok' ? 'ok' : `${part.state}${part.reason === null ? '' : `: ${part.reason}`}`;
  return html`<tr><th scope="row">${part.name}</th><td>${inGB(part.expectedBytes)}</td><td>${inGiB(part.expectedBytes)}</td><td>${ms(part.allocMs)}</td><td>${ms(part.firstTouchMs)}</td><td>${cellBar(part.expectedBytes, { scale: most })}</td><td class="left${part.state === 'ok' ? ' soft' : ''}">${ended}</td></tr>\n`;
}

function countersSection({ moved: changes, allocatedBytes }: LayoutReport): Markup | null {
  if (changes === null) return null;
  const change = (bytes: number | null): Markup =>
    html`<span${bytes === null || isNoise(bytes, allocatedBytes) ? html` class="soft"` : null}>${moved(bytes, UNICODE)}</span>`;
  return section(
    `Which counters moved by ${formatBoth(allocatedBytes)}`,
    list(COUNTERS.map(([counter, name]) => [name, change(changes[counter].afterTouch)] as const)),
  );
}
