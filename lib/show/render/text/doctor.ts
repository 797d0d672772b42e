/** The page of doctor: whether something is wrong, and one row per check. */
import { clean } from '../../../base/format.ts';
import type { CheckResult, CheckStatus, DoctorReport } from '../../../types/index.ts';
import type { RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { hanging, padEnd } from '../text-layout.ts';
import { evidenceText } from './evidence.ts';
import { fitting, labelled, sections, simulatedBand } from './frame.ts';
import { remedyLines } from './remedy.ts';

const STYLES: Readonly<Record<CheckStatus, Style>> = {
  pass: 'ok',
  note: 'notice',
  warn: 'warning',
  fail: 'danger',
  unknown: 'dim',
};

/** Findings that apply stand first; the table gives the order within one status. */
const ORDER: readonly CheckStatus[] = ['fail', 'warn', 'note', 'pass', 'unknown'];

/** If more checks than this passed, a terminal only counts them: findings that apply stay in its window. */
const PASSED_ROWS = 8;

/** The steps by which the page gets shorter in a window of few rows. */
const SHORTER = { noEvidence: 1, unknownNames: 2, noHint: 3 };

export function doctorPage(report: DoctorReport, options: RenderOptions): string[] {
  return fitting(SHORTER.noHint, (step) => pageOf(report, options, step), options);
}

function pageOf(report: DoctorReport, options: RenderOptions, step: number): string[] {
  const { checks, simulated, summary } = report;
  const areCounted = Number.isFinite(options.cut) && summary.pass > PASSED_ROWS;
  const statuses = ORDER.filter((status) =>
    status === 'unknown' ? step < SHORTER.unknownNames : status !== 'pass' || !areCounted,
  );
  const listed = statuses.flatMap((status) => checks.filter((check) => check.status === status));
  const unknownIds = idsOf(checks, 'unknown');
  const named = statuses.includes('unknown') || unknownIds.length === 0 ? [] : [unknownIds.join(', ')];
  const idWidth = Math.max(0, ...listed.map(({ id }) => id.length)) + 2;
  return sections(
    [...simulatedBand(simulated, options, { what: 'findings' }), ...answerLines(report, options)],
    [
      ...listed.flatMap((check) => checkLines(check, { idWidth, evidence: step < SHORTER.noEvidence }, options)),
      ...named.flatMap((ids) => hanging(padEnd('unknown', 9), ids, options.width)),
    ],
    areCounted && step < SHORTER.noHint ? hanging('', 'umaprobe doctor | less: every check', options.width) : [],
  );
}

/** Whether something is wrong, and how many checks say so. What could not be read is never "passed". */
function answerLines({ checks, summary }: DoctorReport, options: RenderOptions): string[] {
  const { fail, note, pass, unknown, warn } = summary;
  const rest = [...(note > 0 ? [`${note} noted`] : []), ...(unknown > 0 ? [`${unknown} could not be read`] : [])];
  const say = (label: string, style: Style, answer: string) =>
    labelled(label, style, `${[answer, ...rest].join('; ')}.`, options);
  const passed = `${pass} of ${checks.length} checks passed`;
  const wrong = [
    ...(fail > 0 ? [`${idsOf(checks, 'fail').join(', ')} failed`] : []),
    ...(warn > 0 ? [`${idsOf(checks, 'warn').join(', ')} warned`] : []),
  ].join('; ');
  if (fail > 0) return say('FAIL', 'danger', `${wrong}: ${passed}`);
  if (warn > 0) return say('WARN', 'warning', `${wrong}: ${passed}`);
  if (pass + note === 0)
    return labelled('UNKNOWN', 'warning', `None of ${checks.length} checks could be read.`, options);
  return say('OK', 'ok', `Nothing is wrong: ${passed}`);
}

const idsOf = (checks: readonly CheckResult[], status: CheckStatus) =>
  checks.filter((check) => check.status === status).map(({ id }) => id);

/** The observation; of a finding that applies also the cause, the evidence and the remedy. */
function checkLines(
  check: CheckResult,
  { evidence, idWidth }: { idWidth: number; evidence: boolean },
  options: RenderOptions,
): string[] {
  const { paint, width } = options;
  const status = padEnd(check.status, 9);
  const sentence = check.cause === null ? check.summary : `${check.summary} ${check.cause}`;
  const [first = '', ...more] = hanging(status + padEnd(check.id, idWidth), clean(sentence), width);
  const lines = [
    // The label is a line of its own in a narrow window, with single spaces.
    first.replace(
      /^(\S+)(\s+)(\S+)/,
      (_, said: string, gap: string, id: string) => paint(STYLES[check.status], said) + gap + paint('strong', id),
    ),
    ...more,
  ];
  if (check.status === 'pass' || check.status === 'unknown') return lines;
  const indent = ' '.repeat(status.length);
  const seen = evidenceText(check.evidence, options);
  if (evidence) lines.push(...hanging(`${indent}seen  `, seen, width).map((line) => paint('dim', line)));
  if (check.remedy !== null) lines.push(...remedyLines(`${indent}do    `, check.remedy, width));
  return lines;
}
