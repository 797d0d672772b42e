// Runs what decides on a change: node scripts/ci.mjs [all] [--dry-run], which is what .ci/run does. Each stage prints its name
// and its time; a failed one does not stop the others, so that one run shows all there is. docs/building.md says how it decides.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { changesOf, DEPENDS, decide, RECORD, readRecord, tidied } from './ci-selection.mjs';
import { isOfTests, REPEATED, recordAfter, reportOf, secondFailure, totalsOf, verdictOf } from './ci-verdict.mjs';
import { capture, isMain, main, root } from './run.mjs';

const script = (name, ...args) => ['npm', 'run', '--silent', name, ...(args.length > 0 ? ['--', ...args] : [])];
/** A stage whose failed tests are repeated at the end. */
const tests = (name, command, more) => ({ name, command, repeats: true, ...more });

/** Phases: the stages of the first list run one after the other, and those of a second list beside them. */
export function plan(changes) {
  const tidy = tidied(changes);
  const everyMachine = decide(DEPENDS['every machine'], changes);
  const since = changes.changed === null ? [] : ['--since', changes.commit];
  const address = 'address and undefined sanitizer';
  const thread = 'thread sanitizer';
  const phases = [
    [
      [
        { name: 'tools', command: ['bash', '.ci/tools'] },
        { name: 'clients fetched', command: script('clients') },
        tests('test', ['npm', 'test']),
      ],
    ],
    // These tests wait for simulated time, for the kernel and for each other, and measure a machine that others may move.
    [[tests('slow tests', script('test:slow'))]],
    // These compute, mostly in one file of tests after the other.
    [
      [
        tests('one judgement', script('test:agree')),
        tests('clients', script('test:clients')),
        tests('matrix of faults', script('test:matrix'), {
          env: everyMachine.runs ? {} : { UMAPROBE_TEST_MACHINES: 'one of each kind' },
          because: `${everyMachine.runs ? 'every machine' : 'one machine of each kind'}: ${everyMachine.because}`,
        }),
        tests('recipes', script('test:recipes'), { depends: 'recipes' }),
      ],
      [
        {
          name: 'lint',
          command: script('lint', ...since),
          because: `clang-tidy reads ${tidy.files.length} of ${tidy.of} files: ${tidy.because}`,
        },
        { name: `${address}, built`, command: script('test:asan', '--build-only'), depends: address },
        { name: `${thread}, built`, command: script('test:tsan', '--build-only'), depends: thread },
        { name: 'fuzz', command: script('test:fuzz', '--seconds', '60', '--seed', '1'), depends: 'fuzz' },
        { name: 'soak', command: script('soak') },
      ],
    ],
    [
      [
        { name: 'package of a fresh clone', command: script('test:pkg'), depends: 'package of a fresh clone' },
        { name: 'every Node', command: script('test:nodes'), depends: 'every Node' },
        { name: address, command: script('test:asan'), depends: address },
        { name: thread, command: script('test:tsan'), depends: thread },
      ],
    ],
  ];
  const decided = (stage) => {
    if (stage.depends === undefined) return { ...stage, runs: true };
    const { because, runs } = decide(DEPENDS[stage.depends], changes);
    return { ...stage, runs, because: `${runs ? 'runs' : 'skipped'}, ${because}` };
  };
  return phases.map((lists) => lists.map((list) => list.map(decided)));
}

function printPlan(phases, { commands }) {
  for (const { because, command, env, name, runs } of phases.flat(2)) {
    if (because !== undefined) console.log(`${name}: ${because}`);
    if (commands && runs)
      console.log(`  ${[...Object.entries(env ?? {}).map((pair) => pair.join('=')), ...command].join(' ')}`);
  }
}

/** Every process that this run starts has this in its environment, also one that a test leaves behind. */
const MARK = `UMAPROBE_CI_RUN=${process.pid}-${Date.now()}`;

export class Run {
  #running = new Set();
  #isEnding = false;
  #scratch = mkdtempSync(join(tmpdir(), 'umaprobe-ci-'));
  /** Name, seconds, code and totals of each stage that has ended. */
  results = [];

  #print(heading) {
    if (!this.#isEnding) console.log(heading);
  }

  /** Runs a command in a process group of its own; answers its exit code. */
  #run(command, { env = {}, background = false } = {}) {
    if (this.#isEnding) return new Promise(() => undefined);
    const [name, ...args] = background ? ['nice', ...command] : command;
    const [mark, value] = MARK.split('=');
    // The same sources are compiled in five folders.
    const ccache = {
      CCACHE_DIR: join(this.#scratch, 'ccache'),
      CCACHE_NOHASHDIR: '1',
      PATH: `/usr/lib/ccache${delimiter}${process.env.PATH}`,
    };
    const child = spawn(name, args, {
      cwd: root,
      detached: true,
      env: { ...process.env, CI: 'true', ...ccache, ...env, [mark]: value },
      stdio: ['ignore', background ? 'pipe' : 'inherit', background ? 'pipe' : 'inherit'],
    });
    this.#running.add(child);
    const output = [];
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => output.push(chunk));
    return new Promise((resolve) => {
      child.once('error', (error) => resolve({ code: error.message, output }));
      child.once('close', (code, signal) => resolve({ code: code ?? signal, output }));
    }).finally(() => this.#running.delete(child));
  }

  /** Runs a command that may run tests; `totals`: of these. */
  async #count(command, options) {
    const path = join(this.#scratch, `totals-${this.results.length}-${Math.random()}`);
    writeFileSync(path, '');
    const end = await this.#run(command, { ...options, env: { ...options?.env, UMAPROBE_TEST_TOTALS: path } });
    return { ...end, totals: totalsOf(readFileSync(path, 'utf8')) };
  }

  async #stage(stage, background) {
    const { command, env, name } = stage;
    const started = performance.now();
    const heading = `\n=== ${name}: ${command.join(' ')}`;
    if (!background) this.#print(heading);
    const { code, output, totals } = await this.#count(command, { env, background });
    const seconds = Math.round((performance.now() - started) / 1000);
    this.results.push({ stage, code, totals, seconds });
    return background ? Buffer.concat([Buffer.from(`${heading}\n`), ...output]) : null;
  }

  /** The stages of a phase; the output of those beside the first list is printed when all have ended. */
  async phase([list = [], beside = []]) {
    const inTurn = async (stages, background) => {
      const outputs = [];
      for (const stage of stages.filter(({ runs }) => runs)) outputs.push(await this.#stage(stage, background));
      return outputs;
    };
    const [, outputs] = await Promise.all([inTurn(list, false), inTurn(beside, true)]);
    for (const output of outputs) process.stdout.write(output);
  }

  /** Repeats the failed tests, each alone; answers each failure with its first and second text. */
  async again() {
    const found = new Map();
    for (const { stage, totals } of this.results)
      for (const { again, name, text } of totals.failures)
        if (!found.has(name))
          found.set(name, { name, first: text, again: stage.repeats ? again : undefined, env: stage.env });
    const failures = [...found.values()];
    for (const failure of failures.filter(({ again }) => again !== undefined).slice(0, REPEATED)) {
      const { again, env, name } = failure;
      this.#print(`\n=== once more: ${name}`);
      const vitest = [process.execPath, join('node_modules', 'vitest', 'vitest.mjs'), 'run', ...again];
      const { code, totals } = await this.#count(vitest, { env });
      failure.second = secondFailure(code, totals, !again.some((word) => word.startsWith('--testNamePattern')));
    }
    return failures;
  }

  endOnSignals() {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'])
      process.once(name, () => this.end().finally(() => process.exit(128 + constants.signals[name])));
  }

  /** Ends every process that this run has started, whatever its group. */
  async end() {
    this.#isEnding = true;
    for (const { pid } of this.#running) signal(-pid, 'SIGTERM');
    for (let tries = 0; tries < 50 && marked().length > 0; tries++)
      await new Promise((resolve) => setTimeout(resolve, 100));
    for (const pid of marked()) signal(pid, 'SIGKILL');
    this.clean();
  }

  clean() {
    rmSync(this.#scratch, { recursive: true, force: true });
  }
}

function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
}

/** Processes that this run has started, and theirs. */
function marked() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(MARK);
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** Prints times, failures in full, the refusals and, last, one line that adds up; answers whether the run refuses, and what was flaky. */
export function conclude(results, failures, flakyBefore) {
  console.log('\n=== times');
  for (const { code, seconds, stage } of results)
    console.log(`${String(seconds).padStart(5)} s  ${stage.name}${code === 0 ? '' : '  FAILED'}`);
  const stages = results.filter(({ code, stage, totals }) => code !== 0 && !isOfTests(stage, totals));
  for (const { stage, totals } of stages)
    for (const problem of totals.problems) console.log(`${stage.name}: ${problem}`);
  const verdict = verdictOf({ failures, stages: stages.map(({ stage }) => stage.name), flakyBefore });
  for (const line of [...reportOf(failures), ...verdict.refusals]) console.log(line);
  const sum = (key) => results.reduce((total, { totals }) => total + totals[key], 0);
  console.log(`${sum('passed')} passed, ${verdict.refusals.length} failed, ${sum('skipped')} skipped`);
  return verdict;
}

/** HEAD, if nothing but the record differs from it; else null. */
function cleanCommit() {
  const changed = capture('git', ['status', '--porcelain'])
    .split('\n')
    .filter((line) => line !== '' && line.slice(3) !== RECORD);
  return changed.length === 0 ? capture('git', ['rev-parse', 'HEAD']).trim() : null;
}

async function ci() {
  const words = process.argv.slice(2);
  const wrong = words.find((word) => !['all', '--dry-run'].includes(word));
  if (wrong !== undefined) throw new Error(`${wrong}: expected all, --dry-run or nothing`);
  const all = words.includes('all');
  const changes = changesOf({ all });
  const phases = plan(changes);
  printPlan(phases, { commands: words.includes('--dry-run') });
  if (words.includes('--dry-run')) return;
  const commit = all ? cleanCommit() : null;
  const run = new Run();
  run.endOnSignals();
  for (const phase of phases) await run.phase(phase);
  const failures = await run.again();
  const record = readRecord();
  const { flaky, refusals } = conclude(run.results, failures, record.flaky ?? []);
  const seconds = Object.fromEntries(run.results.map(({ seconds, stage }) => [stage.name, seconds]));
  const after = recordAfter(record, {
    all: commit !== null,
    commit,
    date: new Date().toISOString(),
    flaky,
    refusals,
    seconds,
  });
  writeFileSync(join(root, RECORD), `${JSON.stringify(after, null, 2)}\n`);
  if (all && commit === null)
    console.error(`${RECORD}: no commit is recorded, because the tree has changes that are not committed`);
  run.clean();
  process.exitCode = refusals.length > 0 ? 1 : 0;
}

if (isMain(import.meta.url)) await main(ci);
