// Requires a reason for every skipped test: the argument of context.skip('reason'), or "(skipped: reason)" in the title of
// the test or of a describe around it. Prints each reason once with its tests, and fails the run if a test has none; in
// CI also if a skipped test is not on the list test/skips.json, or if a row of the list is no test any more.
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { root } from './run.mjs';

/** Rows { project, file, test, reason }, sorted; `*` stands for any text. */
export function readSkips() {
  return JSON.parse(readFileSync(join(root, 'test/skips.json'), 'utf8'));
}

/** vitest's facts of a test, for the comparison with the list. `reason`: null if not skipped, '' without one. */
export function seen(test) {
  const { note, state } = test.result();
  const reason = note ?? /\(skipped: (.+?)\)/.exec(test.fullName)?.[1] ?? '';
  const { project, module, fullName } = test;
  return {
    project: project.name,
    file: module.relativeModuleId,
    test: fullName,
    reason: state === 'skipped' ? reason : null,
  };
}

/** Skipped tests by reason; '': no reason given. */
export function skipsByReason(tests) {
  const reasons = new Map();
  for (const { project, test, reason } of tests)
    if (reason !== null) reasons.set(reason, [...(reasons.get(reason) ?? []), `${project}: ${test}`]);
  return reasons;
}

const literal = (text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

function isLike(text, pattern) {
  const parts = pattern.split('*').map(literal);
  return new RegExp(`^${parts.join('.*')}$`, 's').test(text);
}

/** Faults of the skips of a run, a sentence each. A listed test may run: that depends on the machine. */
export function unlisted(tests, rows) {
  const belongs = (test, row) => test.project === row.project && isLike(test.file, row.file);
  const isOf = (test, row) => belongs(test, row) && isLike(test.test, row.test);
  const skipped = tests.filter(({ reason }) => reason !== null);
  return [
    ...skipped
      .filter((test) => !rows.some((row) => isOf(test, row) && isLike(test.reason, row.reason)))
      .map(
        ({ project, file, test, reason }) =>
          `${project} ${file}: ${test}: skipped and not in test/skips.json: ${reason}`,
      ),
    ...rows
      .filter((row) => tests.some((test) => belongs(test, row)) && !tests.some((test) => isOf(test, row)))
      .map(({ project, file, test }) => `${project} ${file}: ${test}: in test/skips.json, and no test any more`),
  ];
}

/** The words of vitest that run one test alone, or a file where `names` is null. `names`: those around it, and its own. */
export function again(project, file, names) {
  const filter = names === null ? [] : [`--testNamePattern=^${literal(names.join(' '))}$`];
  return ['--project', project, file, ...filter];
}

function namesOf(test) {
  const names = [];
  for (let task = test; task.type !== 'module'; task = task.parent) names.unshift(task.name);
  return names;
}

/** Errors in full: message, difference, and the lines of the stack that are not in a package. */
export function textOf(errors) {
  const texts = (errors ?? []).map((error) => {
    const stack = (error.stacks ?? []).map(
      ({ file, line, column }) => `    at ${file.replace(`${root}/`, '')}:${line}:${column}`,
    );
    const own = stack.filter((line) => !line.includes('node_modules'));
    const cause = error.cause ? [`caused by ${textOf([error.cause])}`] : [];
    return [`${error.name ?? 'Error'}: ${error.message}`, ...(error.diff ? [error.diff] : []), ...own, ...cause].join(
      '\n',
    );
  });
  return stripVTControlCharacters(texts.join('\n') || 'no message');
}

/** Each failed test, and each file that could not be read or in which a hook failed: its name, its errors, and how to repeat it. */
export function failuresOf(modules) {
  return modules.flatMap((module) => {
    const { project, relativeModuleId: file } = module;
    const place = `${project.name} ${file}`;
    const hooks = [module, ...module.children.allSuites()].flatMap((part) => part.errors());
    const failed = [...module.children.allTests('failed')].map((test) => ({
      name: `${place}: ${test.fullName}`,
      text: textOf(test.result().errors),
      again: again(project.name, file, namesOf(test)),
    }));
    if (hooks.length > 0) failed.unshift({ name: place, text: textOf(hooks), again: again(project.name, file, null) });
    return failed;
  });
}

export default class SkipReporter {
  onTestRunEnd(modules, errors) {
    const all = modules.flatMap((module) => [...module.children.allTests()]);
    const failures = failuresOf(modules);
    // Tests behind a failed hook are skipped, too.
    const explained = modules.filter(({ project, relativeModuleId }) =>
      failures.every(({ name }) => name !== `${project.name} ${relativeModuleId}`),
    );
    const tests = explained.flatMap((module) => [...module.children.allTests()].map(seen));
    // vitest -t reports tests that do not match as skipped; these need no reason.
    const isFiltered = process.argv.some((argument) => argument === '-t' || argument.startsWith('--testNamePattern'));
    const reasons = skipsByReason(tests);
    if (isFiltered) reasons.delete('');
    for (const [reason, names] of reasons) {
      console.log(
        `\nskipped ${names.length}: ${reason || 'NO REASON GIVEN: use context.skip(reason), or "(skipped: reason)" in the title'}`,
      );
      for (const name of names.slice(0, 20)) console.log(`  ${name}`);
      if (names.length > 20) console.log(`  … and ${names.length - 20} more`);
    }
    const wrong = process.env.CI && !isFiltered ? unlisted(tests, readSkips()) : [];
    for (const sentence of wrong) console.log(`\n${sentence}`);
    if (reasons.has('') || wrong.length > 0) process.exitCode = 1;
    const inState = (state) => all.filter((test) => test.result().state === state).length;
    writeTotals({
      passed: inState('passed'),
      skipped: inState('skipped'),
      failures,
      problems: [
        ...wrong,
        ...(reasons.get('') ?? []).map((name) => `${name}: skipped without a reason`),
        ...(errors.length > 0 ? [`outside of tests: ${textOf(errors)}`] : []),
      ],
    });
  }
}

/** One line of JSON for each run of tests in the file UMAPROBE_TEST_TOTALS, which .ci/run adds up. */
export function writeTotals(totals) {
  const path = process.env.UMAPROBE_TEST_TOTALS;
  if (path) appendFileSync(path, `${JSON.stringify(totals)}\n`);
}
