import { LIMITS } from '../../base/limits.ts';
import { readRecord } from '../../run/record/index.ts';
import { recordPage } from '../../show/render/text/record.ts';
import { toCsv, toHtml } from '../../show/report/index.ts';
import type { Command } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { count, duration, durationRange, text } from '../core/options.ts';
import { FOLDER } from './record.ts';
import { reportsOf, writeReports } from './reports.ts';

/** Points of the series: a terminal has fewer columns, and a page zooms into them. */
const POINTS = 500;
export const PAGE_POINTS = 5000;

export const recordShowCommand: Command = {
  name: 'record show',
  usage: '[options]',
  description:
    'Reads the files of umaprobe record, also while they are written, after a reboot, or copied from another machine. ' +
    'Says of each session how it ended: stopped by you, shut down, lost, or lost with the machine (a freeze, the power button).\n' +
    'Changes nothing. Exit code: 0, 1 if there is no recording.',
  options: {
    folder: FOLDER,
    last: {
      type: 'string',
      placeholder: '<time>',
      summary: `Only the end of each session: ${durationRange(LIMITS.lastMs)}`,
    },
    sessions: {
      type: 'string',
      placeholder: '<n>',
      summary: `Sessions to show, the newest: ${LIMITS.sessions.min} to ${LIMITS.sessions.max} (default 1)`,
    },
    points: {
      type: 'string',
      placeholder: '<n>',
      summary: `Points of the series: ${LIMITS.points.min} to ${LIMITS.points.max} (default 500; 5000 with --html)`,
    },
    csv: { type: 'string', placeholder: '<file|->', summary: 'Write the series as CSV' },
    jsonl: {
      type: 'string',
      placeholder: '<file|->',
      summary: 'Write points, marks, messages and the rest as JSON Lines, in the order of time',
    },
    html: {
      type: 'string',
      placeholder: '<file>',
      summary: 'Write one HTML page with a timeline that can be zoomed; works offline',
    },
  },
  examples: [
    { command: 'umaprobe record show', means: 'the last session' },
    { command: 'umaprobe record show --last 1m', means: 'its last minute' },
    { command: 'umaprobe record show --html record.html', means: 'a page with a timeline' },
    { command: 'umaprobe record show --points 5000 --csv memory.csv', means: 'for a spreadsheet' },
  ],
  readsMachine: true,
  arguments: { min: 0, max: 0, afterDashes: false, bareWord: { option: 'folder', pattern: /\// } },
  async run(context) {
    const { json, values } = context;
    const folder = text(values, 'folder');
    const lastMs =
      text(values, 'last') === undefined ? null : duration(values, 'last', LIMITS.lastMs, 1000, 'record show');
    const sessions = count(values, 'sessions', LIMITS.sessions, 'record show') ?? 1;
    const reports = reportsOf(values, json, 'record show');
    const points =
      count(values, 'points', LIMITS.points, 'record show') ?? (reports.html === undefined ? POINTS : PAGE_POINTS);
    const document = await readRecord({
      points,
      sessions,
      ...(folder === undefined ? {} : { folder }),
      ...(lastMs === null ? {} : { lastMs }),
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
