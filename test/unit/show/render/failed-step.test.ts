/** A step that failed says so once, in the table, in CSV and on the page. */

import { expect, it } from 'vitest';
import { sweepCsv } from '../../../../lib/show/render/csv.ts';
import { sweepHtml } from '../../../../lib/show/render/html/sweep.ts';
import { createPaint } from '../../../../lib/show/render/paint.ts';
import { sweepPage } from '../../../../lib/show/render/text/sweep.ts';
import { notMade, stepOf, sweepOf } from '../../../support/reports.ts';
import { GB } from '../../../support/units.ts';

const failed = {
  ...stepOf('system', 30 * GB),
  state: 'failed' as const,
  reason: 'BOOM',
  repeats: 0,
  firstTouchMs: null,
  secondTouchMs: null,
};
const report = sweepOf({
  state: 'timeout',
  reason: 'the step system 27.9 GiB did not end within its limit',
  steps: [stepOf('system', GB), failed, notMade('system', 40 * GB, 'not-reached', 'the sweep ended before it')],
});
const times = (text: string): number => text.split('BOOM').length - 1;

it('in the table: a line, and no row of numbers', () => {
  const options = { width: 80, cut: 80, paint: createPaint(0), unicode: true, exact: false, hostName: '' };
  const lines = sweepPage(report, options);
  expect(lines.filter((line) => /^\s*30 GB/.test(line))).toEqual(['30 GB  failed  BOOM']);
  expect(times(lines.join('\n'))).toBe(1);
});

it('in CSV: in its own row', () => {
  const rows = sweepCsv(report).split('\r\n');
  expect(rows.filter((row) => row.includes('BOOM'))).toHaveLength(1);
  expect(rows.find((row) => row.includes('not-reached'))).toContain('the sweep ended before it');
});

it('on the page: a row with the reason, also where some repeats were measured', () => {
  const assets = { script: '', style: '', version: '1' };
  // The report itself is embedded as data, too.
  const rowsOf = (html: string): string => html.slice(html.indexOf('Every step'), html.lastIndexOf('</table>'));
  expect(times(rowsOf(sweepHtml(report, assets)))).toBe(1);
  const partly = sweepOf({ steps: [{ ...failed, repeats: 2 }] });
  expect(times(rowsOf(sweepHtml(partly, assets)))).toBe(1);
});
