import { path, withDefault } from '../../base/options.ts';
import { readRecord } from '../../run/record/index.ts';
import { READ_RECORD } from '../../run/record/options.ts';
import { recordPage } from '../../show/render/text/record.ts';
import { toCsv, toHtml } from '../../show/report/index.ts';
import type { Command } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { optionTable, typedOptions } from '../core/typed-options.ts';
import { reportsOf, writeReports } from './reports.ts';

/** Points of the series of a page, which zooms into them. */
export const PAGE_POINTS = 5000;

/** The newest session, where another number is not typed. */
const SHOWN = {
  ...READ_RECORD,
  sessions: withDefault(READ_RECORD.sessions, 1),
  points: { ...READ_RECORD.points, usually: `${READ_RECORD.points.default}; ${PAGE_POINTS} with --html` },
};

const OWN = {
  csv: path({ placeholder: '<file|->', help: 'Write the series as CSV' }),
  jsonl: path({
    placeholder: '<file|->',
    help: 'Write points, marks, messages and the rest as JSON Lines, in the order of time',
  }),
  html: path({ help: 'Write one HTML page with a timeline that can be zoomed; works offline' }),
};

export const recordShowCommand: Command = {
  name: 'record show',
  description:
    'Reads the files of umaprobe record, also while they are written, after a reboot, or copied from another machine. ' +
    'Says of each session how it ended: stopped by you, shut down, lost, or lost with the machine (a freeze, the power button).\n' +
    'Changes nothing. Exit code: 0, 1 if there is no recording.',
  options: optionTable(SHOWN, OWN),
  examples: [
    { command: 'umaprobe record show', means: 'the last session' },
    { command: 'umaprobe record show --last 1m', means: 'its last minute' },
    { command: 'umaprobe record show --html record.html', means: 'a page with a timeline' },
    { command: 'umaprobe record show --points 5000 --csv memory.csv', means: 'for a spreadsheet' },
  ],
  arguments: { min: 0, max: 0, afterDashes: false, bareWord: { option: 'folder', pattern: /\// } },
  async run(context) {
    const options = typedOptions(context.values, SHOWN, 'record show');
    const reports = reportsOf(context, 'record show');
    const document = await readRecord({
      sessions: 1,
      ...(reports.html === undefined ? {} : { points: PAGE_POINTS }),
      ...options,
    });
    const forms = {
      page: (options: Parameters<typeof recordPage>[1]) => recordPage(document, options),
      csv: () => toCsv(document),
      jsonl: async () => (await import('../../show/render/record-lines.ts')).recordJsonLines(document),
      html: () => toHtml(document),
    };
    return writeReports(
      reports,
      forms,
      document,
      document.sessions.length === 0 ? EXIT.negative : EXIT.success,
      context,
    );
  },
};
