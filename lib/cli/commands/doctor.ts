import { clean } from '../../base/format.ts';
import { CHECKS, matching } from '../../doctor/checks.ts';
import { type CheckResult, type CheckStatus, type DoctorReport, doctor } from '../../doctor/index.ts';
import type { Style } from '../../render/paint.ts';
import { hanging, padEnd, table, truncate } from '../../render/text-layout.ts';
import type { Command, Values } from '../core/command.ts';
import { flag, text } from '../core/options.ts';
import type { Terminal } from '../core/terminal.ts';
import { didYouMean, UsageError } from '../core/usage.ts';

/** The contract of doctor differs from the other commands', whose 1 means "the answer is no". */
const DOCTOR_EXIT = { clean: 0, warnings: 1, failures: 2 } as const;

const STYLES: Readonly<Record<CheckStatus, Style>> = { pass: 'ok', warn: 'warning', fail: 'danger', skip: 'dim' };

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'Checks the machine: what is wrong, why, and what to do',
  usage: '[options]',
  description:
    'Each check has a stable id and answers pass, warn, fail or skip with cause, evidence and remedy; none takes longer than 3 s. ' +
    'Nothing is changed.\n' +
    'Exit code: 0 nothing wrong, 1 warnings, 2 failures. A mistake on the command line is 2, too, with an umaprobe/error/1 document under --json.',
  options: {
    only: {
      type: 'string',
      placeholder: '<ids>',
      summary: 'Only these checks: ids or patterns such as library.*, separated by commas',
    },
    skip: { type: 'string', placeholder: '<ids>', summary: 'Not these' },
    list: { type: 'boolean', summary: 'Print the ids and titles of the checks and run none' },
  },
  examples: [
    { command: 'umaprobe doctor', means: 'all checks' },
    { command: 'umaprobe doctor --only contiguity,pressure', means: 'is this machine ready for a large launch?' },
    { command: "umaprobe doctor --skip 'library.*' --json", means: 'for scripts' },
  ],
  readsMachine: true,
  arguments: { min: 0, max: 0, afterDashes: false },
  async run({ values }) {
    const only = patterns(values, 'only');
    const skip = patterns(values, 'skip') ?? [];
    if (flag(values, 'list')) return list();
    const report = await doctor(only === undefined ? { skip } : { only, skip });
    return { exitCode: exitCodeOf(report), document: report, text: (terminal) => page(report, terminal) };
  },
};

function exitCodeOf({ summary }: DoctorReport): number {
  if (summary.fail > 0) return DOCTOR_EXIT.failures;
  return summary.warn > 0 ? DOCTOR_EXIT.warnings : DOCTOR_EXIT.clean;
}

function patterns(values: Values, name: string): string[] | undefined {
  const list = text(values, name)
    ?.split(',')
    .map((pattern) => pattern.trim())
    .filter((pattern) => pattern !== '');
  if (list === undefined) return undefined;
  const { unknown } = matching(list);
  if (unknown === null && list.length > 0) return list;
  const ids = CHECKS.map(({ id }) => id);
  throw new UsageError(
    `--${name} "${unknown ?? ''}" names no check.${didYouMean(unknown ?? '', ids)} There are ${ids.join(', ')}.`,
    'doctor',
  );
}

function list(): { exitCode: number; document: object; text: (terminal: Terminal) => string } {
  const checks = CHECKS.map(({ id, title }) => ({ id, title }));
  return {
    exitCode: DOCTOR_EXIT.clean,
    document: { schema: 'umaprobe/doctor-list/1', checks },
    text: ({ columns }) =>
      `${table(
        [{ align: 'left' }, { align: 'left', flexible: true }],
        checks.map(({ id, title }) => [id, title]),
        columns,
      ).join('\n')}\n`,
  };
}

function page(report: DoctorReport, terminal: Terminal): string {
  const { paint, columns } = terminal;
  const lines: string[] = [];
  if (report.simulated !== null) {
    const words = ` SIMULATED  machine ${clean(report.simulated)}: nothing of this was found on hardware `;
    lines.push(paint('simulated', padEnd(truncate(words, columns), columns)), '');
  }
  const width = Math.max(0, ...report.checks.map(({ id }) => id.length)) + 2;
  for (const check of report.checks) lines.push(...block(check, width, terminal));
  const { pass, warn, fail, skip } = report.summary;
  const total = `${pass} passed, ${warn} warned, ${fail} failed, ${skip} skipped`;
  const style: Style = fail > 0 ? 'danger' : warn > 0 ? 'warning' : 'ok';
  lines.push('', paint(style, total));
  return `${lines.join('\n')}\n`;
}

/** One line for what is fine; what is not gets its evidence and remedy, too. */
function block(check: CheckResult, width: number, { paint, columns }: Terminal): string[] {
  const status = padEnd(check.status, 6);
  const [first = '', ...more] = hanging(status + padEnd(check.id, width), clean(check.cause), columns);
  const lines = [
    paint(STYLES[check.status], status) +
      paint('strong', first.slice(status.length, status.length + width)) +
      first.slice(status.length + width),
    ...more,
  ];
  if (check.status === 'pass' || check.status === 'skip') return lines;
  const indent = ' '.repeat(status.length);
  lines.push(...hanging(`${indent}seen  `, clean(check.evidence), columns).map((line) => paint('dim', line)));
  if (check.remedy !== null) lines.push(...hanging(`${indent}do    `, check.remedy, columns));
  return lines;
}
