import { didYouMean } from '../../base/nearest.ts';
import { doctor } from '../../core/doctor/index.ts';
import { matching } from '../../core/doctor/select.ts';
import { FINDING_IDS } from '../../core/memory/findings/index.ts';
import { doctorPage } from '../../show/render/text/doctor.ts';
import { table } from '../../show/render/text-layout.ts';
import { FINDINGS } from '../../types/findings.ts';
import type { DoctorList, DoctorReport } from '../../types/index.ts';
import { type Command, type CommandOutcome, type OptionValues, shown } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { flag, list } from '../core/options.ts';
import { UsageError } from '../core/usage.ts';

export const doctorCommand: Command = {
  name: 'doctor',
  usage: '[options]',
  description:
    'Each check has a stable id and results in pass, note, warn, fail or unknown, with what is seen, its numbers and a remedy. ' +
    'Takes at most about 3 s, 5 s on a busy machine. Tries a CUDA context: 256 MiB and more while it runs, which from driver 590 on stay in the pools of the ' +
    'driver; checks that do not need it (--only) try none.\n' +
    'Exit code: 0 nothing wrong, 1 warnings, 7 failures.',
  options: {
    only: {
      type: 'string',
      list: true,
      placeholder: '<ids>',
      values: FINDING_IDS,
      summary: 'Run only these checks: ids or patterns such as library.*, separated by commas',
    },
    skip: {
      type: 'string',
      list: true,
      placeholder: '<ids>',
      values: FINDING_IDS,
      summary: 'Skip these checks',
    },
    list: { type: 'boolean', summary: 'Print ids and titles of the checks, and run none' },
  },
  examples: [
    { command: 'umaprobe doctor', means: 'all checks' },
    { command: 'umaprobe doctor --only fragmentation,pressure', means: 'is this machine ready for a large launch?' },
    { command: "umaprobe doctor --skip 'library.*' --json", means: 'for scripts' },
  ],
  readsMachine: true,
  arguments: { min: 0, max: 0, afterDashes: false, bareWord: { option: 'only', pattern: /^[a-z]/ } },
  async run({ values }) {
    const only = patterns(values, 'only');
    const skip = patterns(values, 'skip') ?? [];
    if (flag(values, 'list')) return listChecks();
    const report = await doctor(only === undefined ? { skip } : { only, skip });
    return shown(report, doctorPage, exitCodeOf(report));
  },
};

function exitCodeOf({ summary }: DoctorReport): number {
  if (summary.fail > 0) return EXIT.failures;
  return summary.warn > 0 ? EXIT.negative : EXIT.success;
}

function patterns(values: OptionValues, name: string): string[] | undefined {
  const wanted = list(values, name, 'doctor');
  if (wanted === undefined) return undefined;
  const { unknown } = matching(wanted);
  if (unknown === null) return wanted;
  const ids = FINDING_IDS;
  const hint = didYouMean(unknown, ids) || ' umaprobe doctor --list shows the checks.';
  throw new UsageError(`--${name} "${unknown}" matches no check.${hint}`, 'doctor');
}

function listChecks(): CommandOutcome {
  const checks = FINDING_IDS.map((id) => ({ id, title: FINDINGS[id] }));
  return {
    exitCode: EXIT.success,
    document: { schema: 'umaprobe/doctor-list/1', checks } satisfies DoctorList,
    text: ({ columns, isTty }) =>
      table(
        [{ align: 'left' }, { align: 'left', flexible: true }],
        checks.map(({ id, title }) => [id, title]),
        isTty ? columns : Number.POSITIVE_INFINITY,
      ),
  };
}
