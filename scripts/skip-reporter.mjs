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

  /** Appends one line of JSON to UMAPROBE_TEST_TOTALS, for the sum over several runs (.ci/run). */
  #writeTotals(tests, modules) {
    const path = process.env.UMAPROBE_TEST_TOTALS;
    if (!path) return;
    const count = (state) => tests.filter((test) => test.result().state === state).length;
    const brokenFiles = modules.filter((module) => module.errors().length > 0).length;
    const totals = { passed: count('passed'), failed: count('failed') + brokenFiles, skipped: count('skipped') };
    appendFileSync(path, `${JSON.stringify(totals)}\n`);
  }
}
