import { CHECKS, matching } from '../../doctor/checks.ts';
import { doctor } from '../../doctor/index.ts';
import { doctorPage } from '../../render/text/doctor.ts';
import { table } from '../../render/text-layout.ts';
import type { DoctorReport } from '../../types/index.ts';
import type { Command, Outcome, Values } from '../core/command.ts';
import { flag, text } from '../core/options.ts';
import { renderOptionsFor } from '../core/terminal.ts';
import { didYouMean, UsageError } from '../core/usage.ts';

/** Other commands exit with 1 for "the answer is no" and with 2 for wrong usage. */
const DOCTOR_EXIT = { clean: 0, warnings: 1, failures: 2 } as const;

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'Checks the machine: what is wrong, why, and what to do',
  usage: '[options]',
  description:
    'Each check has a stable id, takes at most 3 s, and results in pass, warn, fail or skip, with cause, evidence and remedy. ' +
    'Changes nothing.\n' +
    'Exit code: 0 nothing wrong, 1 warnings, 2 failures. Wrong usage is 2, too, with an umaprobe/error/1 document under --json.',
  options: {
    only: {
      type: 'string',
      placeholder: '<ids>',
      summary: 'Run only these checks: ids or patterns such as library.*, separated by commas',
    },
    skip: { type: 'string', placeholder: '<ids>', summary: 'Skip these checks' },
    list: { type: 'boolean', summary: 'Print ids and titles of the checks, and run none' },
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
    return {
      exitCode: exitCodeOf(report),
      document: report,
      text: (terminal) => doctorPage(report, renderOptionsFor(terminal)),
    };
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
    `--${name} "${unknown ?? ''}" matches no check.${didYouMean(unknown ?? '', ids)} The checks are ${ids.join(', ')}.`,
    'doctor',
  );
}

function list(): Outcome {
  const checks = CHECKS.map(({ id, title }) => ({ id, title }));
  return {
    exitCode: DOCTOR_EXIT.clean,
    document: { schema: 'umaprobe/doctor-list/1', checks },
    text: ({ columns }) =>
      table(
        [{ align: 'left' }, { align: 'left', flexible: true }],
        checks.map(({ id, title }) => [id, title]),
        columns,
      ),
  };
}
