/** The terms of an estimate on a page: bytes, range, formula and inputs of each. Pages of `fit` and `estimate` share it. */
import { clean, formatBytes, formatCount, inGB, inGiB } from '../../../base/format.ts';
import type { EstimateRange, EstimateReport, EstimateTerm } from '../../../types/index.ts';
import { TERM_LABELS } from '../fit-parts.ts';
import { styleAt } from '../kinds.ts';
import { cellBar } from './bar.ts';
import { html, type Markup, scrollTable } from './markup.ts';
import { list, section } from './sections.ts';

/** "weights", "KV cache". */
function termLabel(name: string): string {
  return name === 'bytes' ? 'need' : (TERM_LABELS[name] ?? clean(name));
}

/** "1.00 to 12.00"; empty where nothing is uncertain. */
export function rangeText({ bytes, high, low }: EstimateRange): string {
  return low === bytes && high === bytes ? '' : `${inGiB(low)} to ${inGiB(high)}`;
}

export function termsSection({ loading, terms, total, use, kvBytesPerToken }: EstimateReport): Markup {
  const most = Math.max(1, ...terms.map(({ high }) => high));
  const extra = loading.terms.filter(({ high }) => high > 0);
  const perToken =
    kvBytesPerToken === null || kvBytesPerToken === 0
      ? null
      : html`<p class="soft">One more token of context takes ${formatBytes(kvBytesPerToken)}.</p>`;
  return section(
    'What it takes, term by term',
    scrollTable(
      'Terms of the estimate',
      'Expected size of each term, and the range in which the real one is expected: the pale bar is its upper end.',
      html`<tr><th scope="col" class="left">term</th><th scope="col">GiB</th><th scope="col">GB</th><th scope="col">range, GiB</th><td></td></tr>`,
      html`${terms.map((term, index) => termRow(term, styleAt(index), most))}<tr class="total"><th scope="row">total</th>${numbers(total)}<td></td></tr>`,
    ),
    perToken,
    html`<h3>Formulas and their inputs</h3>`,
    formulaList(terms),
    extra.length === 0
      ? null
      : html`<h3>Besides, at its start</h3>${formulaList(extra)}<p>${use.use === 'inference' ? 'Peak of the start' : 'With a checkpoint being written'} ${formatBytes(loading.peak.bytes)}, at most ${formatBytes(loading.peak.high)}; ${use.use === 'inference' ? 'while serving' : 'while it trains'} ${formatBytes(total.bytes)}, at most ${formatBytes(total.high)}.</p>`,
  );
}

function numbers(range: EstimateRange): Markup {
  return html`<td>${inGiB(range.bytes)}</td><td>${inGB(range.bytes)}</td><td>${rangeText(range)}</td>`;
}

function termRow(term: EstimateTerm, style: string, most: number): Markup {
  return html`<tr><th scope="row"><span class="${style}"><span class="name">${termLabel(term.name)}</span></span></th>${numbers(term)}<td class="${style}">${cellBar(term.bytes, { scale: most, most: term.high })}</td></tr>\n`;
}

/** "KV cache: 4.5 GiB = layers × …; between … and …", and below "layers 36, …". */
function formulaList(terms: readonly EstimateTerm[]): Markup {
  return list(
    terms.map((term) => {
      const inputs = Object.entries(term.inputs).map(
        ([name, value]) => `${name} ${typeof value === 'number' ? formatCount(value) : String(value)}`,
      );
      const spread = term.low === term.high ? null : `; between ${formatBytes(term.low)} and ${formatBytes(term.high)}`;
      const given = inputs.length === 0 ? null : html`<br><span class="soft">${inputs.join(', ')}</span>`;
      return [termLabel(term.name), html`${formatBytes(term.bytes)} = ${term.formula}${spread}${given}`] as const;
    }),
  );
}
