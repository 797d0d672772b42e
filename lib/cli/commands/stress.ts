import { inGiB } from '../../base/format.ts';
import { stress } from '../../core/stress/index.ts';
import { STRESS } from '../../core/stress/options.ts';
import type { RenderOptions } from '../../show/render/options.ts';
import { stressPage, stressStepLine } from '../../show/render/text/stress.ts';
import { toCsv, toHtml } from '../../show/report/index.ts';
import type { Command } from '../core/command.ts';
import { flag } from '../core/options.ts';
import { optionTable, typedOptions } from '../core/typed-options.ts';
import { FULL, REPORTS } from './probe-options.ts';
import { runProbe, stressExit } from './probe-run.ts';
import { reportsOf, writeReports } from './reports.ts';

const NAME = 'stress';

export const stressCommand: Command = {
  name: NAME,
  description:
    'Allocates in a child process, starting small. The cost of each step is predicted from the last one and checked against the floor first; near the limit steps are halved. A native thread watches the machine throughout. ' +
    'Reports the maximum, what limited it, and what did not come back.\n' +
    'Exit code: 0 the maximum was found, or --max held; 6 stopped before by the guard, pressure, contiguity or a time limit (what was held is valid), 1 failed, lost or nothing allocated, 130 Ctrl-C.',
  options: optionTable(FULL, REPORTS, STRESS),
  examples: [
    { command: 'umaprobe stress', means: 'the most that can be held at once' },
    { command: 'umaprobe stress --sim gb10', means: 'the same, on a simulated machine' },
    { command: 'umaprobe stress --max 60GB --verify --hold 10s', means: 'can 60 GB be held, and is every byte right?' },
    { command: 'umaprobe stress --single --kind managed', means: 'the largest single block' },
  ],
  arguments: { min: 0, max: 0, afterDashes: false, bareWord: { option: 'max', pattern: /^\d/ } },
  async run(context) {
    const { values } = context;
    const reports = reportsOf(context, NAME);
    const options = typedOptions(values, STRESS, NAME);
    let steps = 0;
    const { report, signalCode } = await runProbe(context, 'starting', ({ signal, prepared, live }) =>
      stress({
        ...options,
        signal,
        onEvent(event) {
          if (event.type !== 'step') return prepared(event);
          const { heldBytes, expectedBytes, etaMs } = event.progress;
          steps++;
          live.step(stressStepLine(event.step, steps), {
            share: expectedBytes === null || expectedBytes <= 0 ? null : Math.min(1, heldBytes / expectedBytes),
            etaMs,
            label: `held ${inGiB(heldBytes)} GiB`,
          });
        },
      }),
    );
    const forms = {
      page: (options: RenderOptions) => stressPage(report, options, { full: flag(values, 'full') }),
      csv: () => toCsv(report),
      html: () => toHtml(report),
    };
    return writeReports(reports, forms, report, stressExit(report, signalCode), context);
  },
};
