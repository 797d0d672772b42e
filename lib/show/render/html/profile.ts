/** The HTML page of a profile: the answer, the peaks with their curves, and every trial. */
import { formatBoth, formatDuration, formatPercent, inGB, inGiB } from '../../../base/format.ts';
import type { ProfileReport, ProfileTrial } from '../../../types/index.ts';
import { answerText, predictionError, settingsText, trialNote } from '../profile-facts.ts';
import { type Content, html, type Markup, scrollTable } from './markup.ts';
import { type Assets, page, timeText } from './page.ts';
import { charts, type Figure, figures, headRow, list, saveButton, section } from './sections.ts';

export function profileHtml(report: ProfileReport, assets: Assets): string {
  const { at, bootId, command, durationMs, journalNotes, simulated, trials, unfinished } = report;
  const earlier =
    unfinished === null ? [] : [html`<strong>An earlier run did not end.</strong> ${unfinished.sentence}`];
  return page(
    report,
    {
      title: 'Memory by configuration',
      heading: command[0] ?? 'profile',
      simulated,
      facts: [
        `${trials.filter(({ startedAt }) => startedAt !== null).length} trials in ${formatDuration(durationMs)}`,
        timeText(at),
        bootId === null ? null : `boot ${bootId}`,
      ],
      notices: [...journalNotes, ...earlier],
      sections: [
        figures(keyFigures(report)),
        section('The answer', html`<p>${answerText(report)} ${report.reason}</p>`),
        chartsSection(report),
        trialsSection(report),
        methodSection(report),
      ],
    },
    assets,
  );
}

function keyFigures({ limit, safe }: ProfileReport): Figure[] {
  return [
    {
      term: 'Largest safe configuration',
      value: safe === null ? 'none' : settingsText(safe.params),
      more: safe === null ? 'see the reason below' : `${inGiB(safe.headroomBytes)} GiB stay available`,
    },
    {
      term: 'Its peak',
      value: safe === null ? 'unknown' : `${inGiB(safe.peakBytes)} GiB`,
      more: safe === null ? '' : `${inGB(safe.peakBytes)} GB`,
    },
    { term: 'Limit', value: `${inGiB(limit.bytes)} GiB`, more: limit.from },
  ];
}

function chartsSection({ curves }: ProfileReport): Markup | null {
  if (curves.length === 0) return null;
  return section(
    'Peak by value',
    charts(),
    html`<ul>${curves.map(({ formula, points }) => html`<li>${formula} (${points.length} trials)</li>`)}</ul>`,
  );
}

function trialsSection({ parameters, trials }: ProfileReport): Markup {
  const hasMetric = trials.some(({ metric }) => metric !== null);
  const names = parameters.map(({ name }) => name);
  const heads = [
    'trial',
    ...names,
    'peak, GiB',
    'headroom, GiB',
    'predicted, GiB',
    'interval',
    'off by',
    ...(hasMetric ? ['metric'] : []),
    'time',
  ];
  return section(
    'Every trial',
    scrollTable(
      'Every trial',
      'Memory in use on the machine at the peak, what stayed available, and what was expected before.',
      headRow(heads, { hasEnd: true }),
      trials.map((trial) => trialRow(trial, names, hasMetric)),
    ),
  );
}

function trialRow(trial: ProfileTrial, names: readonly string[], hasMetric: boolean): Markup {
  const { durationMs, headroomBytes, metric, number, params, peakBytes, prediction, startedAt, status } = trial;
  const size = (bytes: number | null | undefined) => (bytes == null ? '' : inGiB(bytes));
  const error = predictionError(trial);
  const cells: Content[] = [
    ...names.map((name) => params[name] ?? ''),
    size(peakBytes),
    size(headroomBytes),
    size(prediction?.bytes),
    prediction === null ? '' : `${inGiB(prediction.low)} to ${inGiB(prediction.high)}`,
    error === null ? '' : formatPercent(error),
    ...(hasMetric ? [metric ?? ''] : []),
    startedAt === null ? '' : formatDuration(durationMs),
  ];
  const note = trialNote(trial);
  const ended = note === '' ? status : `${status}: ${note}`;
  return html`<tr><th scope="row">${number}</th>${cells.map((cell) => html`<td>${cell}</td>`)}<td class="left${status === 'ok' ? ' soft' : ''}">${ended}</td></tr>\n`;
}

function methodSection(report: ProfileReport): Markup {
  const { baselineBytes, command, floor, journal, limit, others, recording, total } = report;
  return section(
    'How it was measured',
    html`<p>One parameter at a time, in the given order, from its smallest value. Before each trial its peak was predicted from the trials before, and a configuration predicted above the limit was not run. A native guard read the memory 100 times a second and stopped what passed the limit.</p>`,
    list([
      ['Command', html`<code>${command.join(' ')}</code>`],
      ['Limit', `${formatBoth(limit.bytes)}: ${limit.from}`],
      ['Floor', `${formatBoth(floor.bytes)}: ${floor.from}`],
      ['Memory', `${formatBoth(total)}, ${formatBoth(baselineBytes)} of it in use before the first trial`],
      others.length === 0
        ? null
        : [
            'Other GPU programs',
            others
              .map(({ gpuBytes, name, pid }) => `${name ?? 'unknown'} (${pid}): ${formatBoth(gpuBytes)}`)
              .join(', '),
          ],
      ['Journal', journal === null ? 'none' : html`<code>${journal}</code>`],
      recording === null ? null : ['Recording', html`<code>${recording}</code>`],
    ]),
    saveButton(),
  );
}
