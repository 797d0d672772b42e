import { flag } from '../../base/options.ts';
import { doctor } from '../../core/doctor/index.ts';
import { DOCTOR } from '../../core/doctor/options.ts';
import { FINDING_IDS } from '../../core/memory/findings/index.ts';
import { doctorPage } from '../../show/render/text/doctor.ts';
import { table } from '../../show/render/text-layout.ts';
import { FINDINGS } from '../../types/findings.ts';
import type { DoctorList, DoctorReport } from '../../types/index.ts';
import { type Command, type CommandOutcome, shown } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { optionTable, typedOptions } from '../core/typed-options.ts';

const LIST = { list: flag({ help: 'Print ids and titles of the checks, and run none' }) };

export const doctorCommand: Command = {
  name: 'doctor',
  description:
    'Each check has a stable id and results in pass, note, warn, fail or unknown, with what is seen, its numbers and a remedy. ' +
    'Takes at most about 3 s, longer on a busy machine. Tries a CUDA context: 256 MiB and more while it runs, which from driver 590 on stay in the pools of the ' +
    'driver; checks that do not need it (--only) try none.\n' +
    'Exit code: 0 nothing wrong, 1 warnings, 7 failures.',
  options: optionTable(DOCTOR, LIST),
  examples: [
    { command: 'umaprobe doctor', means: 'all checks' },
    { command: 'umaprobe doctor --only fragmentation,pressure', means: 'is this machine ready for a large launch?' },
    { command: "umaprobe doctor --skip 'library.*' --json", means: 'for scripts' },
  ],
  arguments: { min: 0, max: 0, afterDashes: false, bareWord: { option: 'only', pattern: /^[a-z]/ } },
  async run({ values }) {
    const options = typedOptions(values, DOCTOR, 'doctor');
    if (values.list === true) return listChecks();
    const report = await doctor(options);
    return shown(report, doctorPage, exitCodeOf(report));
  },
};

function exitCodeOf({ summary }: DoctorReport): number {
  if (summary.fail > 0) return EXIT.failures;
  return summary.warn > 0 ? EXIT.negative : EXIT.success;
}

function listChecks(): CommandOutcome {
  const checks = FINDING_IDS.map((id) => ({ id, title: FINDINGS[id] }));
  return {
    exitCode: EXIT.success,
    document: { schema: 'umaprobe/doctor-list/1', checks } satisfies DoctorList,
    text: ({ columns, isTty }) =>
      table(
        ['left', 'flexible'],
        checks.map(({ id, title }) => [id, title]),
        isTty ? columns : Number.POSITIVE_INFINITY,
      ),
  };
}
