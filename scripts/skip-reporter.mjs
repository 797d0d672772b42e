// Requires a reason for every skipped test: the argument of context.skip('reason'), or "(skipped: reason)" in the title
// of the test or of a describe around it. Prints each reason once with its tests, and fails the run if a test has none.
import { appendFileSync } from 'node:fs';

/** Skipped tests by reason; null: no reason given. */
export function skipsByReason(tests) {
  const reasons = new Map();
  for (const test of tests) {
    const result = test.result();
    if (result.state !== 'skipped') continue;
    const reason = result.note ?? /\(skipped: (.+?)\)/.exec(test.fullName)?.[1] ?? null;
    reasons.set(reason, [...(reasons.get(reason) ?? []), `${test.project.name}: ${test.fullName}`]);
  }
  return reasons;
}

function nameOf(test) {
  return `${test.project.name} ${test.module.relativeModuleId}: ${test.fullName}`;
}

export default class SkipReporter {
  onTestRunEnd(modules) {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    // With -t vitest reports tests that do not match as skipped; these need no reason.
    const filtered = process.argv.some((argument) => argument === '-t' || argument.startsWith('--testNamePattern'));
    const reasons = skipsByReason(tests);
    if (filtered) reasons.delete(null);
    for (const [reason, names] of reasons) {
      console.log(
        `\nskipped ${names.length}: ${reason ?? 'NO REASON GIVEN: use context.skip(reason), or "(skipped: reason)" in the title'}`,
      );
      for (const name of names.slice(0, 20)) console.log(`  ${name}`);
      if (names.length > 20) console.log(`  … and ${names.length - 20} more`);
    }
    if (reasons.has(null)) process.exitCode = 1;
    this.#writeTotals(tests, modules);
  }

  /** Appends one line of JSON to UMAPROBE_TEST_TOTALS, for the sum over several runs and its failures (.ci/run). */
  #writeTotals(tests, modules) {
    const path = process.env.UMAPROBE_TEST_TOTALS;
    if (!path) return;
    const inState = (state) => tests.filter((test) => test.result().state === state);
    const firstLine = (errors) => errors?.[0]?.message?.split('\n')[0] ?? 'no message';
    const failures = [
      ...inState('failed').map((test) => `${nameOf(test)}: ${firstLine(test.result().errors)}`),
      ...modules
        .filter((module) => module.errors().length > 0)
        .map((module) => `${module.project.name} ${module.relativeModuleId}: ${firstLine(module.errors())}`),
    ];
    const totals = { passed: inState('passed').length, skipped: inState('skipped').length, failed: failures.length };
    const retried = tests.filter((test) => (test.diagnostic()?.retryCount ?? 0) > 0).map(nameOf);
    appendFileSync(path, `${JSON.stringify({ ...totals, failures, retried })}\n`);
  }
}
