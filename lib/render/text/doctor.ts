/** The page of doctor: one finding per check, and their numbers. */
import { clean } from '../../base/format.ts';
import type { CheckResult, CheckStatus, DoctorReport } from '../../types/index.ts';
import type { RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { hanging, padEnd } from '../text-layout.ts';
import { sections, simulatedBand } from './frame.ts';

const STYLES: Readonly<Record<CheckStatus, Style>> = { pass: 'ok', warn: 'warning', fail: 'danger', skip: 'dim' };

export function doctorPage({ checks, simulated, summary }: DoctorReport, options: RenderOptions): string[] {
  const { pass, warn, fail, skip } = summary;
  const total = `${pass} passed, ${warn} warned, ${fail} failed, ${skip} skipped`;
  const style: Style = fail > 0 ? 'danger' : warn > 0 ? 'warning' : 'ok';
  const idWidth = Math.max(0, ...checks.map(({ id }) => id.length)) + 2;
  return sections(
    simulated === null ? [] : [simulatedBand(simulated, options, { what: 'findings' })],
    checks.flatMap((check) => checkLines(check, idWidth, options)),
    [options.paint(style, total)],
  );
}

/** The cause; of a warning or a failure the evidence and remedy, too. */
function checkLines(check: CheckResult, idWidth: number, { paint, width }: RenderOptions): string[] {
  const status = padEnd(check.status, 6);
  const [first = '', ...more] = hanging(status + padEnd(check.id, idWidth), clean(check.cause), width);
  const lines = [
    paint(STYLES[check.status], status) +
      paint('strong', first.slice(status.length, status.length + idWidth)) +
      first.slice(status.length + idWidth),
    ...more,
  ];
  if (check.status === 'pass' || check.status === 'skip') return lines;
  const indent = ' '.repeat(status.length);
  lines.push(...hanging(`${indent}seen  `, clean(check.evidence), width).map((line) => paint('dim', line)));
  if (check.remedy !== null) lines.push(...hanging(`${indent}do    `, check.remedy, width));
  return lines;
}
