/**
 * The entry point `umaprobe/report`: a report as CSV, HTML or metrics, and two documents side by side.
 *
 * @module umaprobe/report
 */

import { refuseOldNode } from './base/node-version.ts';

export { compare } from './show/compare/index.ts';
export {
  type CsvReport,
  type HtmlOptions,
  type HtmlReport,
  type MetricsOptions,
  toCsv,
  toHtml,
  toMetrics,
} from './show/report/index.ts';
export type * from './types/compare.ts';

refuseOldNode();
