// A skipped test says why. This reporter prints each reason once with the tests that gave it, and fails the run when a
// test was skipped without one: it is either given to context.skip('reason'), or stands in the title of the test or of
// a describe around it as "(skipped: reason)".
import { appendFileSync } from 'node:fs';

/** Tests by the reason they were skipped for; null stands for none given. */
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
    // With -t the tests that do not match are reported as skipped too; that is no decision of theirs.
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

  /** One line of JSON for whoever adds up several runs (.ci/run). */
  #writeTotals(tests, modules) {
    const path = process.env.UMAPROBE_TEST_TOTALS;
    if (!path) return;
    const count = (state) => tests.filter((test) => test.result().state === state).length;
    const brokenFiles = modules.filter((module) => module.errors().length > 0).length;
    const totals = { passed: count('passed'), failed: count('failed') + brokenFiles, skipped: count('skipped') };
    appendFileSync(path, `${JSON.stringify(totals)}\n`);
  }
}
