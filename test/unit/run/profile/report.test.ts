/** From trials to the answer, and the answer as text, Markdown, CSV and a page. */

import { beforeAll, describe, expect, it } from 'vitest';
import { profileCharts } from '../../../../browser/report/profile.ts';
import { bisection } from '../../../../lib/run/profile/plan.ts';
import { curvesOf, safeOf } from '../../../../lib/run/profile/report.ts';
import { profileCsv } from '../../../../lib/show/render/csv.ts';
import { profileHtml } from '../../../../lib/show/render/html/profile.ts';
import { createPaint } from '../../../../lib/show/render/paint.ts';
import { profileMarkdown } from '../../../../lib/show/render/profile-markdown.ts';
import { profilePage, trialLine } from '../../../../lib/show/render/text/profile.ts';
import type { ProfileReport } from '../../../../lib/types/index.ts';
import { exploreFormula, profileOf, sftProfile, trialOf } from '../../../support/profiles.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { GB, GiB } from '../../../support/units.ts';

const LIMIT = 100 * GB;
const options = { width: 120, cut: 120, paint: createPaint(0), unicode: true, exact: false, hostName: '' };
const screen = (report: ProfileReport, width = 120) => profilePage(report, { ...options, width, cut: width });

let report: ProfileReport;
beforeAll(async () => {
  report = await sftProfile();
});

describe('the answer', () => {
  it('has the safe configuration with its margin, and the curve through the peaks', () => {
    expect(report.safe).toEqual({
      params: { batch_size: 16 },
      peakBytes: 80.9 * GB,
      headroomBytes: 47.6 * GB,
      marginBytes: 19.1 * GB,
    });
    const [curve] = report.curves;
    expect(curve?.points.map(({ value }) => value)).toEqual([2, 4, 8, 16]);
    const at = (value: number) => (curve?.fixedBytes ?? 0) + (curve?.unitBytes ?? 0) * value ** (curve?.exponent ?? 0);
    for (const { peakBytes, value } of curve?.points ?? [])
      expect(Math.abs(at(value) / peakBytes - 1)).toBeLessThan(0.03);
  });

  it('is a document of its schema', () => {
    const other = trialOf({ batch_size: 4 }, 29 * GB, { status: 'over', metric: 12.5, signal: 'SIGKILL' });
    const unfinished = { at: report.at, otherBoot: true, params: { batch_size: 8 }, sentence: 'The machine vanished.' };
    const documents: ProfileReport[] = [
      report,
      profileOf({ trials: [other], unfinished, others: [{ pid: 1, name: null, gpuBytes: null }] }),
      profileOf({ bisection: { name: 'batch_size', from: 1, to: 9 }, unfinished: { ...unfinished, params: null } }),
    ];
    for (const document of documents) expect(parseDocument(JSON.stringify(document))).toEqual(document);
  });

  it('of a bisection has a curve, too', async () => {
    const plan = bisection({ name: 'context', from: 1024, to: 8192 });
    const { safe, trials } = await exploreFormula(plan, ({ context }) => (10 + (context as number) / 1000) * GB, LIMIT);
    expect(curvesOf(['context'], trials, safe)[0]?.points.map(({ value }) => value)).toEqual([1024, 2048, 4096, 8192]);
  });

  it('without a trial that ended well has no curve and no safe configuration', () => {
    const trials = [trialOf({ batch_size: 2 }, LIMIT, { status: 'stopped' })];
    expect(curvesOf(['batch_size'], trials, null)).toEqual([]);
    expect(safeOf({ batch_size: 2 }, trials, LIMIT)).toBeNull();
    expect(safeOf(null, trials, LIMIT)).toBeNull();
  });
});

describe('on a terminal', () => {
  it('are the answer, the trials, and with full the plot with the limit', () => {
    const text = screen(report).join('\n');
    expect(text).toMatch(/^SAFE {2}batch_size 16 is/);
    expect(text).toMatch(/^4 +16 +75\.34 +80\.90 +44\.33 .* ok$/m);
    expect(text).toMatch(/^5 +32 +- +- +- +\S+ .* refused$/m);
    expect(text).toMatch(/by a \+\s+b·batch_size\S* through batch_size 2, 4, 8, 16/);
    expect(text).not.toContain('Peak over batch_size');
    const full = profilePage(report, { ...options, width: 120, cut: 120 }, { full: true });
    expect(full.join('\n')).toContain('Peak over batch_size');
    expect(text).toMatch(/SAFE {2}batch_size 16 is the largest safe configuration: peak 75\.34 GiB \(80\.90 GB\)/);
    expect(text).toMatch(/forecast +at most \d+\.\d %/);
  });

  it.each([40, 60, 80, 160])('fit into %i columns', (width) => {
    for (const line of screen(report, width)) expect([...line].length).toBeLessThanOrEqual(width);
  });

  it('say what was simulated, what was lost, who else was there, and why there is no answer', () => {
    const other = profileOf({
      simulated: 'gb10',
      state: 'failed',
      reason: 'bs=2 was stopped.',
      others: [{ pid: 77, name: 'vllm', gpuBytes: 8 * GiB }],
      unfinished: { at: report.at, otherBoot: true, params: null, sentence: 'the machine vanished between trials' },
    });
    const text = screen(other).join('\n');
    expect(text).toContain('SIMULATED');
    expect(text).toContain('EARLIER RUN  the machine vanished between trials');
    expect(text).toContain('vllm (77) holds 8.00 GiB (8.59 GB) of GPU memory');
    expect(text).toContain('NONE  No configuration is safe below 93.13 GiB (100.00 GB): bs=2 was stopped.');
  });

  it('have one line for each trial while they run', () => {
    expect(trialLine(trialOf({ bs: 2, ga: 1 }, 20 * GiB))).toBe(
      '  1  bs=2 ga=1  peak 20.00 GiB  headroom 99.67 GiB  1.00 s  ok',
    );
    expect(trialLine(trialOf({ bs: 2 }, GiB, { status: 'failed', notes: 'exit\ncode 1' }))).toContain(
      'failed: exit code 1',
    );
  });
});

describe('as files', () => {
  it('Markdown is a table of S3 with the answer', () => {
    const lines = profileMarkdown(report).split('\n');
    expect(lines).toContain('| batch\\_size | peak\\_mem\\_gb | headroom\\_gb | predicted\\_gb | status | notes |');
    expect(lines).toContain('|--:|--:|--:|--:|---|---|');
    expect(lines.some((line) => line.startsWith('| 16 | 80.90 | 47.60 |'))).toBe(true);
    const hostile = profileOf({ simulated: 'x', trials: [trialOf({ batch_size: 2 }, GB, { notes: 'a|b\n<i>' })] });
    expect(profileMarkdown(hostile)).toContain('a\\|b \\<i\\>');
    expect(profileMarkdown(hostile)).toContain('**Simulated** machine x');
  });

  it('CSV has a column for each parameter, and exact bytes', () => {
    const [head = '', , , , sixteen = '', refused = ''] = profileCsv(report).split('\r\n');
    expect(head).toContain('boot_id,batch_size,peak_mem_gb,headroom,status,notes,peak_bytes');
    expect(sixteen).toContain(',16,80.90,47.60,ok,,80900000000,');
    expect(refused).toContain(',32,,,refused,');
  });

  it('the page has every trial and escapes what the program said', () => {
    const nasty = '</script><img src=x>';
    const document = { ...report, command: [nasty], trials: [trialOf({ batch_size: 2 }, GB, { notes: nasty })] };
    const page = profileHtml(document, { script: 'draw();', style: '', version: '9.9.9' });
    expect(page).toContain('Memory by configuration');
    expect(page).not.toContain('<img');
    expect(page).toContain('id="charts"');
    const [chart] = profileCharts(report);
    expect(chart?.xs).toEqual([2, 4, 8, 16, 32]);
    expect(chart?.lines[0]?.values.map((value) => value?.toFixed(1))).toEqual([
      '19.7',
      '27.0',
      '43.6',
      '75.3',
      undefined,
    ]);
    expect(chart?.lines[0]?.failed).toEqual([null, null, null, null, 'refused']);
  });
});
