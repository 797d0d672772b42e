// A line of progress now and then, if stdout is no terminal: files and tests so far, the time, and about how much is
// left. vitest draws its own on a terminal.

/** Milliseconds between two lines. */
const INTERVAL = 15_000;

/** "3 min 05 s", "42 s". */
function duration(milliseconds) {
  const seconds = Math.round(milliseconds / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}

/** One line; `expected` and `done` weigh the files, see weightOf. */
export function progressLine({ files, allFiles, tests, failed, elapsed, done, expected }) {
  // An early estimate is wrong by a factor: vitest starts with the files that took longest.
  const left =
    done < expected / 5 || files === allFiles ? '' : `, about ${duration((elapsed * (expected - done)) / done)} left`;
  const failures = failed === 0 ? '' : `, ${failed} failed`;
  return `progress: ${files} of ${allFiles} files, ${tests} tests${failures}, ${duration(elapsed)}${left}`;
}

/** A file of test/sim takes about twenty times as long as one of test/unit, because it starts processes. */
function weightOf(path) {
  return path.includes('/test/unit/') ? 1 : 20;
}

export default class ProgressReporter {
  #started = 0;
  #printed = 0;
  #files = 0;
  #allFiles = 0;
  #tests = 0;
  #failed = 0;
  #done = 0;
  #expected = 0;

  onTestRunStart(specifications) {
    this.#started = performance.now();
    this.#printed = this.#started;
    this.#allFiles = specifications.length;
    this.#expected = specifications.reduce((sum, { moduleId }) => sum + weightOf(moduleId), 0);
  }

  onTestModuleEnd(module) {
    const states = [...module.children.allTests()].map((test) => test.result().state);
    this.#files++;
    this.#tests += states.length;
    this.#failed += states.filter((state) => state === 'failed').length;
    this.#done += weightOf(module.moduleId);
    const now = performance.now();
    if (process.stdout.isTTY || now - this.#printed < INTERVAL) return;
    this.#printed = now;
    console.log(
      progressLine({
        files: this.#files,
        allFiles: this.#allFiles,
        tests: this.#tests,
        failed: this.#failed,
        elapsed: now - this.#started,
        done: this.#done,
        expected: this.#expected,
      }),
    );
  }
}
