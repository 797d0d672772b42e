/** The pages of `estimate`: what a model takes by term, each with its formula; or its weights in each precision. */
import { formatBoth, formatBytes, inGB, inGiB } from '../../base/format.ts';
import type { EstimateReport, EstimateTable } from '../../types/index.ts';
import { modelFacts, useFacts } from '../estimate-facts.ts';
import { lettersOf, styleAt } from '../kinds.ts';
import { barPicture } from './bar.ts';
import { html, type Markup } from './markup.ts';
import { type Assets, page } from './page.ts';
import { type Figure, figures, list, saveButton, scrollTable, section } from './sections.ts';
import { termLabel, termsSection } from './terms.ts';

export function estimateHtml(report: EstimateReport, assets: Assets): string {
  const { model, notes, use } = report;
  return page(
    report,
    {
      title: 'What it takes',
      heading: model.name,
      // The headers of a model are read, and not a machine.
      simulated: null,
      facts: [...modelFacts(model), ...useFacts(use)],
      sections: [
        figures(keyFigures(report)),
        pictureSection(report),
        termsSection(report),
        modelSection(report),
        notes.length === 0 ? null : section('Notes', html`<ul>${notes.map((note) => html`<li>${note}</li>`)}</ul>`),
        html`<section>${saveButton()}</section>`,
      ],
    },
    assets,
  );
}

function keyFigures({ loading, method, terms, total }: EstimateReport): Figure[] {
  const weights = terms.find(({ name }) => name === 'weights');
  const figure = (term: string, bytes: number, more: string): Figure => ({
    term,
    value: `${inGiB(bytes)} GiB`,
    more,
    kind: null,
  });
  const spread =
    total.low === total.high ? `${inGB(total.bytes)} GB` : `${inGiB(total.low)} to ${inGiB(total.high)} GiB`;
  return [
    figure(method === 'rough' ? 'By a rule of thumb' : 'In all', total.bytes, spread),
    ...(weights === undefined ? [] : [figure('Weights', weights.bytes, `${inGB(weights.bytes)} GB`)]),
    figure('At most while loading', loading.peak.high, `${inGB(loading.peak.high)} GB`),
  ];
}

function pictureSection({ terms, total }: EstimateReport): Markup {
  const names = terms.map(({ name }) => termLabel(name));
  const letters = lettersOf(names);
  return section(
    'The whole',
    barPicture({
      label: `${names.map((name, index) => `${name} ${formatBytes(terms[index]?.bytes ?? 0)}`).join(', ')}; at most ${formatBytes(total.high)} in all.`,
      parts: terms.map(({ bytes }, index) => ({ style: styleAt(index), letter: letters[index] ?? '?', bytes })),
      range: [total.bytes, total.high],
      scale: Math.max(1, total.high, total.bytes),
      marks: [{ at: total.bytes, label: `expected ${formatBytes(total.bytes)}` }],
    }),
  );
}

function modelSection({ model }: EstimateReport): Markup {
  return section(
    'The model',
    list([
      ['Read from', model.path === null ? `the ${model.source}` : html`<code>${model.path}</code>`],
      model.maxContext === null ? null : ['Longest context', `${model.maxContext.toLocaleString('en-US')} tokens`],
      ...model.dtypes.map(({ bytes, dtype }) => [dtype, formatBoth(bytes)] as const),
    ]),
  );
}

/** Weights by precision: a row for each model size. */
export function estimateTableHtml(report: EstimateTable, assets: Assets): string {
  const { columns, rows } = report;
  const most = Math.max(1, ...rows.flatMap(({ bytes }) => bytes));
  const cell = (bytes: number, index: number): Markup => {
    const width = ((bytes / most) * 100).toFixed(1);
    return html`<td class="${styleAt(index)}">${inGiB(bytes)}<small>${inGB(bytes)} GB</small><svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="rest" width="100" height="8"/><rect width="${width}" height="8"/></svg></td>`;
  };
  return page(
    report,
    {
      title: 'Weights by precision',
      heading: rows.length === 1 ? (rows[0]?.name ?? 'Weights') : 'Models by size and precision',
      simulated: null,
      facts: ['weights alone: parameters × bits / 8'],
      sections: [
        section(
          'Weights by precision',
          scrollTable(
            'Weights by precision',
            'Weights in GiB, and in GB below. Cache, buffers and the process come on top.',
            html`<tr><th scope="col" class="left">parameters</th>${columns.map((dtype) => html`<th scope="col">${dtype}</th>`)}</tr>`,
            rows.map(({ bytes, name }) => html`<tr><th scope="row">${name}</th>${bytes.map(cell)}</tr>\n`),
          ),
          saveButton(),
        ),
      ],
    },
    assets,
  );
}
