import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csv, layoutCsv, recordCsv, stressCsv, sweepCsv } from '../../../../lib/show/render/csv.ts';
import { layoutOf, notMade, recordOf, sessionOf, stepOf, stressOf, sweepOf } from '../../../support/reports.ts';
import { GB } from '../../../support/units.ts';

/** A reader of RFC 4180, independent of the writer. */
function parse(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? '';
    if (quoted) {
      if (character !== '"') cell += character;
      else if (text[at + 1] === '"') {
        cell += '"';
        at++;
      } else quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === ',') {
      row.push(cell);
      cell = '';
    } else if (character === '\r' && text[at + 1] === '\n') {
      rows.push([...row, cell]);
      [row, cell] = [[], ''];
      at++;
    } else cell += character;
  }
  if (row.length > 0 || cell !== '') throw new Error('the last line does not end');
  return rows;
}

function records(text: string): Record<string, string>[] {
  const [head = [], ...rows] = parse(text);
  expect(new Set(head).size).toBe(head.length);
  for (const row of rows) expect(row).toHaveLength(head.length);
  return rows.map((row) => Object.fromEntries(head.map((name, index) => [name, row[index] ?? ''])));
}

describe('csv', () => {
  it.each([
    ['=1+2', "'=1+2"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=cmd', '?=cmd'],
    [' =cmd', "' =cmd"],
    ['＝cmd', "'＝cmd"],
    ['a=b', 'a=b'],
    ['line\r\nline\u009b31m\u202e', 'line??line?31m?'],
  ])('writes the name %j as %j, which no spreadsheet runs and no terminal obeys', (name, cell) => {
    const rows = parse(
      csv(
        [
          ['a', () => name],
          ['b', () => -1],
        ],
        [0],
      ),
    );
    expect(rows[1]).toEqual([cell, '-1']);
  });

  const harmless = fc.string().filter((text) => !/^\s*[=+\-@]/.test(text));

  it('keeps any other text', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(harmless, harmless), { minLength: 1 }), (rows) => {
        const text = csv<(typeof rows)[number]>(
          [
            ['a', ([left]) => left],
            ['b', ([, right]) => right],
          ],
          rows,
        );
        expect(parse(text).slice(1)).toEqual(rows);
      }),
    );
  });

  it('ends lines with CRLF and leaves unknown numbers empty', () => {
    expect(
      csv(
        [
          ['a_ms', () => null],
          ['b', () => 0],
        ],
        [{}],
      ),
    ).toBe('a_ms,b\r\n,0\r\n');
  });
});

describe('a sweep', () => {
  it('has one row per step, with the numbers of the document', () => {
    const report = sweepOf();
    const rows = records(sweepCsv(report));
    expect(rows).toHaveLength(report.steps.length);
    const [step] = report.steps;
    expect(rows[0]).toMatchObject({
      at: report.at,
      simulated: 'gb10',
      device: 'NVIDIA GB10',
      kind: 'device',
      requested_bytes: '1000000000',
      state: 'ok',
      alloc_median_ms: String(step?.allocMs?.median),
      second_touch_gb_per_s: String(step?.gbPerSecond),
      moved_mem_free_after_touch_bytes: '-1000000000',
      moved_nvml_device_used_after_alloc_bytes: '',
    });
  });

  it('has the reason and no numbers of a step that was not run', () => {
    const report = sweepOf({ steps: [notMade('device', 200 * GB, 'refused', 'too large, by "far"')] });
    expect(records(sweepCsv(report))[0]).toMatchObject({
      reason: 'too large, by "far"',
      alloc_median_ms: '',
      repeats: '0',
    });
  });

  it('names tensors', () => {
    const tensor = {
      dtype: 'bfloat16' as const,
      shape: [8192, 8192],
      elements: 67_108_864,
      bytes: 134_217_728,
      note: null,
    };
    const rows = records(sweepCsv(sweepOf({ steps: [stepOf('device', 134_217_728, { tensor })] })));
    expect(rows[0]).toMatchObject({ dtype: 'bfloat16', shape: '8192x8192', elements: '67108864' });
  });

  it('keeps its column names', () => {
    expect(parse(sweepCsv(sweepOf()))[0]?.slice(0, 17)).toEqual([
      'at',
      'simulated',
      'device',
      'device_uuid',
      'driver_version',
      'kind',
      'requested_bytes',
      'dtype',
      'shape',
      'elements',
      'state',
      'reason',
      'repeats',
      'alloc_min_ms',
      'alloc_median_ms',
      'alloc_max_ms',
      'first_touch_min_ms',
    ]);
  });
});

it('a stress test has one row per step, with the floor in each', () => {
  const report = stressOf();
  const rows = records(stressCsv(report));
  expect(rows).toHaveLength(report.steps.length);
  expect(rows.at(-1)).toMatchObject({
    step: String(report.steps.length),
    held_bytes: String(report.maxBytes),
    floor_bytes: String(report.floor?.bytes),
    pressure_full_percent: '0',
  });
  expect(records(stressCsv(stressOf({ floor: null })))[0]?.floor_bytes).toBe('');
});

it('a layout has one row per part', () => {
  expect(records(layoutCsv(layoutOf())).map((row) => [row.part, row.requested_bytes])).toEqual([
    ['embeddings', '2000000000'],
    ['attention', '8000000000'],
    ['feedforward', '10000000000'],
    ['layer norms', '500000000'],
    ['output head', '1000000000'],
    ['activations', '4000000000'],
  ]);
});

it('a recording has one row per point, with its session', () => {
  const [session] = recordOf().sessions;
  const rows = records(recordCsv(recordOf({ sessions: [sessionOf({ id: 'first' }), sessionOf({ id: 'second' })] })));
  expect(rows.map((row) => row.session)).toEqual([...Array(600).fill('first'), ...Array(600).fill('second')]);
  expect(rows[200]).toMatchObject({
    at: '2026-11-20T18:03:20.000Z',
    mem_free_bytes: String(session?.series[200]?.free),
    lowest_mem_free_bytes: String(session?.series[200]?.lowestFree),
  });
});
