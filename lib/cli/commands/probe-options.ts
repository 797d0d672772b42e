/** Options that sweep, layout and stress share, and what they become for the library. */

import { flag, path } from '../../base/options.ts';
import type { ProbeOptions } from '../../core/probe/options.ts';
import type { OptionValues } from '../core/command.ts';
import { text } from '../core/options.ts';

/** The page of a report. */
export const HTML = {
  html: path({ help: 'Write the report as one HTML file that works offline', section: 'Reports' }),
};

/** Reports that sweep, layout and stress write. */
export const REPORTS = {
  csv: path({ placeholder: '<file|->', help: 'Write one row per step as CSV; - for stdout', section: 'Reports' }),
  ...HTML,
};

/** The option of a command whose page has more than fits a window. */
export const FULL = { full: flag({ help: 'Show every step and the pictures, too', section: 'Reports' }) };

/** `--journal`: none is no journal. */
export function journalOption(values: OptionValues): ProbeOptions['journal'] {
  const journal = text(values, 'journal');
  return journal === 'none' ? false : journal;
}
