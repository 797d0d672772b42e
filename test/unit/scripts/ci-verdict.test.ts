/** What .ci/run makes of failed tests: repeated once, alone; one that passes then is flaky. */
import { describe, expect, it, vi } from 'vitest';
import { conclude } from '../../../scripts/ci.mjs';
import { isOfTests, recordAfter, reportOf, secondFailure, totalsOf, verdictOf } from '../../../scripts/ci-verdict.mjs';

const flaky = (name: string) => ({ name, first: `${name} failed\nin two lines`, second: null });
const failed = (name: string) => ({ name, first: `${name} failed`, second: `${name} failed again` });
const refusals = (failures: object[], flakyBefore: string[] = [], stages: string[] = []) =>
  verdictOf({ failures, flakyBefore, stages }).refusals;

describe('a run', () => {
  it('is not refused by no flaky test, nor by one or two', () => {
    expect(verdictOf({ failures: [], flakyBefore: [], stages: [] })).toEqual({ flaky: [], refusals: [] });
    expect(verdictOf({ failures: [flaky('a'), flaky('b')], flakyBefore: [], stages: [] })).toEqual({
      flaky: ['a', 'b'],
      refusals: [],
    });
  });

  it('is refused by three', () => {
    expect(refusals([flaky('a'), flaky('b'), flaky('c')])).toEqual(['3 flaky tests in one run']);
  });

  it('is refused by one that was flaky in the run before, and not by another one', () => {
    expect(refusals([flaky('a')], ['a'])).toEqual(['flaky in the run before, too: a']);
    expect(refusals([flaky('a')], ['b'])).toEqual([]);
  });

  it('is refused by a test that fails twice, by one that was not repeated, and by a failed stage', () => {
    expect(refusals([failed('a'), flaky('b'), { name: 'c', first: 'x' }], [], ['lint'])).toEqual([
      'failed stage: lint',
      'failed test: a',
      'failed test: c',
    ]);
  });

  it('prints each failure in full', () => {
    expect(reportOf([flaky('a'), failed('b'), { name: 'c', first: 'x' }])).toEqual([
      'flaky: a',
      '    a failed\n    in two lines',
      'failed twice: b',
      '    b failed',
      '  and alone:',
      '    b failed again',
      'failed, and not repeated: c',
      '    x',
    ]);
  });
});

describe('the second run of a test', () => {
  const totals = { passed: 1, skipped: 0, failures: [], problems: [] };

  it.each([
    ['passed', 0, totals, false, null],
    ['failed', 1, { ...totals, failures: [{ name: 'a', text: 'why' }] }, false, 'why'],
    ['failed outside of the test', 1, { ...totals, problems: ['unhandled'] }, false, 'unhandled'],
    ['was no test', 0, { ...totals, passed: 0 }, false, 'no test of this name ran'],
    ['of a file whose tests are all skipped', 0, { ...totals, passed: 0 }, true, null],
    ['was killed', 'SIGKILL', { ...totals, passed: 0 }, false, 'vitest ended with SIGKILL'],
  ])('%s', (_, code, seen, isFile, expected) => {
    expect(secondFailure(code, seen, isFile)).toBe(expected);
  });
});

describe('a failed stage', () => {
  const failures = [{ name: 'a', text: 'x', again: ['a'] }];
  const totals = { passed: 0, skipped: 0, failures, problems: [] as string[] };

  it.each([
    ['of tests, is what they are', { repeats: true }, totals, true],
    ['that is not repeated, has failed', {}, totals, false],
    ['without a failed test, has failed: a build', { repeats: true }, { ...totals, failures: [] }, false],
    ['with a skip that is not listed, has failed', { repeats: true }, { ...totals, problems: ['x'] }, false],
    [
      'with a failure that cannot be repeated, has failed',
      { repeats: true },
      { ...totals, failures: [{ name: 'a', text: 'x' }] },
      false,
    ],
  ])('%s', (_, stage, seen, expected) => {
    expect(isOfTests(stage, seen)).toBe(expected);
  });
});

it('The end of a run has times, problems, failures and, last, a line that adds up', () => {
  const lines: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
  const totals = (more: object) => ({ passed: 5, skipped: 1, failures: [], problems: [], ...more });
  const one = { name: 'a', text: 'why', again: ['a'] };
  const verdict = conclude(
    [
      { stage: { name: 'test', repeats: true }, code: 1, seconds: 61, totals: totals({ failures: [one] }) },
      {
        stage: { name: 'slow', repeats: true },
        code: 1,
        seconds: 2,
        totals: totals({ problems: ['skipped and not listed'] }),
      },
      { stage: { name: 'lint' }, code: 0, seconds: 3, totals: totals({}) },
    ],
    [{ name: 'a', first: 'why', second: null }],
    [],
  );
  log.mockRestore();
  expect(verdict).toEqual({ flaky: ['a'], refusals: ['failed stage: slow'] });
  expect(lines).toEqual([
    '\n=== times',
    '   61 s  test  FAILED',
    '    2 s  slow  FAILED',
    '    3 s  lint',
    'slow: skipped and not listed',
    'flaky: a',
    '    why',
    'failed stage: slow',
    '15 passed, 1 failed, 3 skipped',
  ]);
});

it('The lines of several runs add up', () => {
  const line = { passed: 1, skipped: 2, failures: ['f'], problems: [] };
  expect(totalsOf(`${JSON.stringify(line)}\n${JSON.stringify(line)}\n`)).toEqual({
    passed: 2,
    skipped: 4,
    failures: ['f', 'f'],
    problems: [],
  });
  expect(totalsOf('')).toEqual({ passed: 0, skipped: 0, failures: [], problems: [] });
});

describe('the record', () => {
  const before = { commit: 'old', date: 'then', seconds: { test: 1 }, flaky: ['x'] };
  const run = { all: true, commit: 'new', date: 'now', flaky: ['a'], refusals: [], seconds: { test: 2 } };

  it.each([
    ['that passed all has its commit', run, { commit: 'new', date: 'now', seconds: { test: 2 }, flaky: ['a'] }],
    [
      'that was refused keeps the last one, and has what was flaky',
      { ...run, refusals: ['x'] },
      { ...before, flaky: ['a'] },
    ],
    ['of a part keeps the last one', { ...run, all: false }, { ...before, flaky: ['a'] }],
  ])('of a run %s', (_, end, expected) => {
    expect(recordAfter(before, end)).toEqual(expected);
  });
});
