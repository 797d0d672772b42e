/** A profile on a terminal: the answer, the trials, and their peaks over the parameter with the most of them. */
import { clean, formatBoth, formatDuration, formatPercent, GiB, inGB, inGiB } from '../../../base/format.ts';
import { gpuText } from '../../../core/memory/own-memory.ts';
import type { ProfileReport, ProfileTrial } from '../../../types/index.ts';
import { tickText } from '../axis.ts';
import { NOTHING } from '../numbers.ts';
import type { RenderOptions } from '../options.ts';
import { plot } from '../plot.ts';
import { answerText, curvePoints, predictionError, STATE_STYLES, STATUS_STYLES, trialNote } from '../profile-facts.ts';
import { hanging, table, truncate } from '../text-layout.ts';
import { labelled, sections, simulatedBand } from './frame.ts';

/** @param full the picture, too. */
export function profilePage(report: ProfileReport, options: RenderOptions, { full = false } = {}): string[] {
  const { simulated, unfinished } = report;
  return sections(
    [
      ...simulatedBand(simulated, options),
      ...answerLines(report, options),
      ...(unfinished === null ? [] : labelled('EARLIER RUN', 'warning', clean(unfinished.sentence), options)),
    ],
    headLines(report, options),
    trialTable(report, options),
    [...noteLines(report, options), ...curveLines(report, options)],
    full ? peakPlot(report, options) : [],
  );
}

function headLines(report: ProfileReport, options: RenderOptions): string[] {
  const { baselineBytes, command, journalNotes, limit, others, pool, recording } = report;
  const rows: [string, string | null][] = [
    ['command', clean(command.join(' '))],
    ['limit', `${formatBoth(limit.bytes)} in use: ${clean(limit.from)}`],
    ...pool.gpus.map((gpu): [string, string] => ['GPU', `${clean(gpuText(gpu))}: ${formatBoth(gpu.total)}`]),
    ['in use', `${formatBoth(baselineBytes)} before the first trial`],
    ['others', others.length === 0 ? null : others.map(otherText).join(', ')],
    ['record', recording === null ? null : clean(recording)],
    ...journalNotes.map((note): [string, string] => ['note', clean(note)]),
  ];
  return rows.flatMap(([label, text]) => (text === null ? [] : hanging(label.padEnd(9), text, options.width)));
}

function otherText({ gpuBytes, name, pid }: ProfileReport['others'][number]): string {
  return `${clean(name ?? 'unknown')} (${pid}) holds ${formatBoth(gpuBytes)} of GPU memory`;
}

function trialTable(report: ProfileReport, options: RenderOptions): string[] {
  const { parameters, pool, trials } = report;
  const hasSeveral = pool.gpus.length > 1;
  const hasMetric = trials.some(({ metric }) => metric !== null);
  const heads = [
    '',
    ...parameters.map(({ name }) => name),
    ...(hasSeveral ? ['GPU'] : []),
    'peak GiB',
    'GB',
    'headroom GiB',
    'predicted GiB',
  ];
  const rows = trials.map((trial) => [
    String(trial.number),
    ...parameters.map(({ name }) => String(trial.params[name] ?? NOTHING)),
    ...(hasSeveral ? [trial.gpu === null ? NOTHING : String(trial.gpu)] : []),
    trial.peakBytes === null ? NOTHING : inGiB(trial.peakBytes),
    trial.peakBytes === null ? NOTHING : inGB(trial.peakBytes),
    trial.headroomBytes === null ? NOTHING : inGiB(trial.headroomBytes),
    trial.predictedBytes === null ? NOTHING : inGiB(trial.predictedBytes),
    ...(hasMetric ? [trial.metric === null ? NOTHING : tickText(trial.metric)] : []),
    trial.startedAt === null ? NOTHING : formatDuration(trial.durationMs),
    options.paint(STATUS_STYLES[trial.status], trial.status),
  ]);
  const all = [...heads, ...(hasMetric ? ['metric'] : []), 'time', 'status'];
  return table(
    all.map((head) => (head === 'status' ? 'left' : 'right')),
    [all.map((head) => options.paint('dim', clean(head))), ...rows],
    options.cut,
  );
}

function noteLines({ trials }: ProfileReport, { width }: RenderOptions): string[] {
  return trials.flatMap((trial) => {
    const note = trialNote(trial);
    return note === '' ? [] : hanging(`${String(trial.number).padStart(3)}  `, clean(note), width);
  });
}

/** Peaks over the parameter with the most trials, the curve through them, and the limit. */
function peakPlot({ curves, limit, trials }: ProfileReport, options: RenderOptions): string[] {
  const curve = curves.toSorted((a, b) => b.points.length - a.points.length)[0];
  if (curve === undefined || curve.points.length < 3) return [];
  const { at, parameter, points } = curve;
  const isOnLine = ({ params }: ProfileTrial) => Object.entries(at).every(([name, value]) => params[name] === value);
  const refused = trials.filter((trial) => isOnLine(trial) && trial.status !== 'ok' && trial.status !== 'over');
  const values = [...points.map(({ value }) => value), ...refused.map(({ params }) => params[parameter] as number)];
  const most = Math.max(...values);
  return plot(
    {
      title: `Peak over ${clean(parameter)}`,
      yUnit: GiB,
      xText: (value) => tickText(value),
      yText: (bytes) => `${tickText(bytes / GiB)} GiB`,
      series: [
        {
          letter: '-',
          name: 'limit',
          style: 'danger',
          points: [
            [Math.min(...values), limit.bytes],
            [most, limit.bytes],
          ],
          bare: true,
        },
        // Beyond the limit the curve is of no interest, and would flatten the rest.
        {
          letter: 'c',
          name: 'curve',
          style: 'notice',
          points: curvePoints(curve, most).filter(([, bytes]) => bytes <= limit.bytes * 1.25),
          bare: true,
        },
        {
          letter: 'p',
          name: 'peak',
          style: 'strong',
          points: points.map(({ peakBytes, value }) => [value, peakBytes] as const),
          failed: refused.map(({ params }) => params[parameter] as number),
        },
      ],
    },
    options,
  );
}

function curveLines({ curves, trials }: ProfileReport, { width }: RenderOptions): string[] {
  const errors = trials.flatMap((trial) => {
    const error = predictionError(trial);
    return error === null || trial.prediction?.trials === 1 ? [] : [Math.abs(error)];
  });
  const lines = curves.flatMap(({ formula, points }) =>
    hanging('curve    ', `${clean(formula)} (${points.length} trials)`, width),
  );
  if (errors.length === 0) return lines;
  return [...lines, ...hanging('forecast ', `at most ${formatPercent(Math.max(...errors))} from the peak`, width)];
}

function answerLines(report: ProfileReport, options: RenderOptions): string[] {
  const { reason, safe, state } = report;
  const style = safe === null ? 'danger' : STATE_STYLES[state];
  const why = safe === null ? '' : ` ${reason}`;
  return labelled(safe === null ? 'NONE' : 'SAFE', style, clean(`${answerText(report)}${why}`), options);
}

/** One trial as a line of a log. */
export function trialLine(trial: ProfileTrial): string {
  const { durationMs, headroomBytes, notes, number, params, peakBytes, predictedBytes, startedAt, status } = trial;
  const parts = [
    Object.entries(params)
      .map(([name, value]) => `${name}=${value}`)
      .join(' '),
    predictedBytes === null ? null : `predicted ${inGiB(predictedBytes)} GiB`,
    peakBytes === null ? null : `peak ${inGiB(peakBytes)} GiB`,
    headroomBytes === null ? null : `headroom ${inGiB(headroomBytes)} GiB`,
    startedAt === null ? null : formatDuration(durationMs),
    notes === null || status === 'ok' ? status : `${status}: ${clean(notes)}`,
  ];
  return truncate(`${String(number).padStart(3)}  ${parts.filter((part) => part !== null).join('  ')}`, 400);
}
