/** toCsv(), toHtml() and toMetrics(): a report as a table, a page or numbers for Prometheus, the same that the command writes. */

import { abortable } from '../../base/abort.ts';
import { checkChoice, checkKeys, checkSignal, invalidType, invalidValue, type Keys } from '../../base/arguments.ts';
import { formatBoth } from '../../base/format.ts';
import type {
  CompareReport,
  EstimateReport,
  FitLargest,
  FitReport,
  FitTable,
  FitTogether,
  LaunchReport,
  LayoutReport,
  MetricsFormat,
  ProfileReport,
  RecordedSession,
  RecordReport,
  Snapshot,
  StressReport,
  SweepReport,
} from '../../types/index.ts';

/** Reports that have rows. */
export type CsvReport = SweepReport | StressReport | LayoutReport | ProfileReport | RecordReport;

/** Reports that have a page. */
export type HtmlReport = CsvReport | CompareReport | FitReport | FitTable | FitLargest | FitTogether | LaunchReport;

/** Content of a page besides its report. */
export interface HtmlOptions {
  /** Model or size that `fit()` was asked about. Default: its need. */
  heading?: string;
  /** Estimate behind the need of `fit()`, whose terms the page lists. */
  estimated?: EstimateReport | null;
  /** Session of the recording of `launch()`, for the timeline. */
  session?: RecordedSession | null;
  /** Rejects with the signal's reason. */
  signal?: AbortSignal;
}

const KEYS: Keys<HtmlOptions> = { heading: true, estimated: true, session: true, signal: true };
const METRICS_KEYS: Keys<MetricsOptions> = { format: true, signal: true };

/**
 * The rows of a report as CSV (RFC 4180). Names of columns are stable and carry their unit; an empty field is unknown.
 *
 * @example
 * ```ts
 * import { sweep } from 'umaprobe';
 * import { toCsv } from 'umaprobe/report';
 *
 * console.log(await toCsv(await sweep({ preset: 'quick' })));
 * ```
 *
 * @param report of `sweep()`, `stress()`, `layout()`, `profile()` or `readRecord()`, also read back from a file of JSON.
 * @throws the signal's reason when it is aborted. TypeError (`ERR_INVALID_ARG_TYPE`, `_VALUE`) for anything else.
 */
export async function toCsv(report: CsvReport, options: { signal?: AbortSignal } = {}): Promise<string> {
  checkReport('toCsv()', report);
  checkKeys('toCsv()', options, { signal: true });
  return abortable(checkSignal(options.signal), () => csvOf(report));
}

async function csvOf(report: CsvReport): Promise<string> {
  const csv = await import('../render/csv.ts');
  switch (report.schema) {
    case 'umaprobe/sweep/1':
      return csv.sweepCsv(report);
    case 'umaprobe/stress/1':
      return csv.stressCsv(report);
    case 'umaprobe/layout/1':
      return csv.layoutCsv(report);
    case 'umaprobe/profile/1':
      return csv.profileCsv(report);
    case 'umaprobe/record/1':
      return csv.recordCsv(report);
    default:
      throw hasNone(report, 'rows: those of sweep(), stress(), layout(), profile() and readRecord() have');
  }
}

/**
 * A report as one HTML file that works offline: picture, tables, and the report itself to save as JSON.
 *
 * @example
 * ```ts
 * import { sweep } from 'umaprobe';
 * import { toHtml } from 'umaprobe/report';
 *
 * process.stdout.write(await toHtml(await sweep({ preset: 'quick' })));
 * ```
 *
 * @param report as for `toCsv()`, or of `fit()` or `launch()`.
 * @throws as `toCsv()`.
 */
export async function toHtml(report: HtmlReport, options: HtmlOptions = {}): Promise<string> {
  checkReport('toHtml()', report);
  checkKeys('toHtml()', options, KEYS);
  return abortable(checkSignal(options.signal), () => htmlOf(report, options));
}

async function htmlOf(report: HtmlReport, options: HtmlOptions): Promise<string> {
  const { estimated = null, session = null } = options;
  const assets = (await import('./package-files.ts')).pageAssets('report');
  switch (report.schema) {
    case 'umaprobe/sweep/1':
      return (await import('../render/html/sweep.ts')).sweepHtml(report, assets);
    case 'umaprobe/stress/1':
      return (await import('../render/html/stress.ts')).stressHtml(report, assets);
    case 'umaprobe/layout/1':
      return (await import('../render/html/layout.ts')).layoutHtml(report, assets);
    case 'umaprobe/profile/1':
      return (await import('../render/html/profile.ts')).profileHtml(report, assets);
    case 'umaprobe/record/1':
      return (await import('../render/html/record.ts')).recordHtml(report, assets);
    case 'umaprobe/compare/1':
      return (await import('../render/html/compare.ts')).compareHtml(report, assets);
    case 'umaprobe/launch/1':
      return (await import('../render/html/launch.ts')).launchHtml(report, session, assets);
    case 'umaprobe/fit/1': {
      const heading = options.heading ?? estimated?.model.name ?? formatBoth(report.need.bytes);
      return (await import('../render/html/fit.ts')).fitHtml(report, { heading, estimated }, assets);
    }
    case 'umaprobe/fit-table/1':
      return (await import('../render/html/fit.ts')).fitTableHtml(report, assets);
    case 'umaprobe/fit-largest/1':
      return (await import('../render/html/fit.ts')).fitLargestHtml(report, assets);
    case 'umaprobe/fit-together/1':
      return (await import('../render/html/fit.ts')).fitTogetherHtml(report, assets);
    default:
      throw hasNone(
        report,
        'a page: those of sweep(), stress(), layout(), profile(), readRecord(), fit() and launch() have',
      );
  }
}

/** Options of `toMetrics()`. */
export interface MetricsOptions {
  /** `text` (default): Prometheus' text format 0.0.4. `openmetrics`: OpenMetrics 1.0, which ends with `# EOF`. */
  format?: MetricsFormat;
  /** Rejects with the signal's reason. */
  signal?: AbortSignal;
}

/**
 * A snapshot as numbers for Prometheus, as `umaprobe metrics` prints them. A number that is not known has no line.
 *
 * @example
 * ```ts
 * import { snapshot } from 'umaprobe';
 * import { toMetrics } from 'umaprobe/report';
 *
 * console.log(await toMetrics(await snapshot(), { format: 'openmetrics' }));
 * ```
 *
 * @param report of `snapshot()`, also read back from a file of JSON.
 * @throws as `toCsv()`.
 */
export async function toMetrics(report: Snapshot, options: MetricsOptions = {}): Promise<string> {
  checkReport('toMetrics()', report);
  checkKeys('toMetrics()', options, METRICS_KEYS);
  const format = checkChoice('format', ['text', 'openmetrics'] as const, options.format ?? 'text');
  if (report.schema !== 'umaprobe/snapshot/1') throw hasNone(report, 'metrics: that of snapshot() has');
  return abortable(checkSignal(options.signal), async () => {
    const { packageVersion } = await import('../../base/package-version.ts');
    return (await import('../render/metrics.ts')).metricsText(report, packageVersion(), format);
  });
}

function checkReport(call: string, report: unknown): void {
  if (typeof report !== 'object' || report === null)
    throw invalidType(`the report of ${call}`, 'a report of umaprobe', report);
}

/** The error for a report without such a form, also one of another version, read from a file. */
function hasNone({ schema }: { schema?: unknown }, expected: string): TypeError {
  return invalidValue('schema of the report', `one that has ${expected}`, schema);
}
