// The verdict of a run of .ci/run. A test that failed is repeated once, alone: if it passes then, it is flaky. Flaky
// tests refuse the run if there are three, or if one was flaky in the run before.

/** Failures that are repeated: with more the run is refused whatever they say, and three are enough for that. */
export const REPEATED = 10;
const TOO_MANY_FLAKY = 3;

/** Adds up the lines of JSON that runs of tests wrote (scripts/skip-reporter.mjs). */
export function totalsOf(text) {
  const lines = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
  const sum = (key) => lines.reduce((total, line) => total + line[key], 0);
  const all = (key) => lines.flatMap((line) => line[key]);
  return { passed: sum('passed'), skipped: sum('skipped'), failures: all('failures'), problems: all('problems') };
}

/** True if a stage's failure is that of its tests, which are repeated, and of nothing else. */
export function isOfTests({ repeats = false }, { failures, problems }) {
  return repeats && problems.length === 0 && failures.length > 0 && failures.every(({ again }) => again !== undefined);
}

/** The text of a second run's failure; null: it passed. `totals`: of that run. */
export function secondFailure(code, { failures, passed, problems }, isFile) {
  const texts = [...failures.map(({ text }) => text), ...problems];
  if (texts.length > 0) return texts.join('\n');
  if (code !== 0) return `vitest ended with ${code}`;
  return passed > 0 || isFile ? null : 'no test of this name ran';
}

/**
 * @param failures each with `first`, and `second`: the failure of the second run, null: passed, undefined: not repeated.
 * @param stages names of the stages that failed by something else than such a test.
 */
export function verdictOf({ failures, stages, flakyBefore }) {
  const flaky = failures.filter(({ second }) => second === null).map(({ name }) => name);
  const twice = failures.filter(({ second }) => second !== null);
  const refusals = [
    ...stages.map((name) => `failed stage: ${name}`),
    ...twice.map(({ name }) => `failed test: ${name}`),
    ...flaky.filter((name) => flakyBefore.includes(name)).map((name) => `flaky in the run before, too: ${name}`),
    ...(flaky.length >= TOO_MANY_FLAKY ? [`${flaky.length} flaky tests in one run`] : []),
  ];
  return { flaky, refusals };
}

const indented = (text) => text.replace(/^(?=.)/gm, '    ');

/** Each failure in full. */
export function reportOf(failures) {
  return failures.flatMap(({ name, first, second }) => {
    if (second === null) return [`flaky: ${name}`, indented(first)];
    if (second === undefined) return [`failed, and not repeated: ${name}`, indented(first)];
    return [`failed twice: ${name}`, indented(first), '  and alone:', indented(second)];
  });
}

/** The record after a run. `all`: everything ran on `commit` without a change beside it. */
export function recordAfter(record, { all, commit, date, flaky, refusals, seconds }) {
  if (!all || refusals.length > 0) return { ...record, flaky };
  return { commit, date, seconds, flaky };
}
