// npm run test:fuzz: coverage-guided fuzzing of the parsers in native/, with libFuzzer and the sanitizers of clang.
//   node scripts/fuzz.mjs [--seconds N] [--seed N] [target …]    N seconds in all, divided among the targets
//   node scripts/fuzz.mjs --pack FOLDER                          programs and inputs for a machine without a compiler
// A target is a file of test/fuzz. It starts from test/fuzz/corpus, from the machines in lib/machines and from
// everything that was ever found (test/fuzz/regressions), which is therefore tried first.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { bootstrap } from './bootstrap.mjs';
import { capture, findTool, inParallel, main, root, run } from './run.mjs';

const sources = join(root, 'test', 'fuzz');
const output = join(root, 'build-fuzz');
const findings = join(output, 'findings');

/** Seconds for one input, and MiB of memory: no parser here needs a hundredth of it. */
const LIMITS = ['-timeout=10', '-rss_limit_mb=2048'];

const allTargets = readdirSync(sources)
  .filter((file) => file.endsWith('.cc'))
  .map((file) => file.slice(0, -'.cc'.length));

async function build() {
  const compiler = process.env.CXX ?? 'clang++';
  for (const tool of [compiler, 'cmake']) {
    if (!findTool(tool)) throw new Error(`no ${tool} on PATH (Debian: apt-get install clang libclang-rt-dev cmake)`);
  }
  // Its own words only if it fails: the compiler may lack libFuzzer.
  capture('cmake', ['-S', sources, '-B', output, `-DCMAKE_CXX_COMPILER=${compiler}`]);
  const make = ['--', '--no-print-directory', '-s'];
  await run('cmake', ['--build', output, '--parallel', String(availableParallelism()), ...make]);
}

/** The shipped machines as the simulator reads them: lib/sim is TypeScript, which Node 20 does not run. */
async function machineSeeds() {
  const { rolldown } = await import('rolldown');
  const file = join(output, 'flatten.mjs');
  const bundle = await rolldown({ input: join(root, 'lib', 'sim', 'machine.ts'), platform: 'node' });
  await bundle.write({ file, format: 'esm' });
  await bundle.close();
  const { flatten } = await import(file);
  const { loadMachine, machines } = await import(join(root, 'dist', 'sim.js'));
  const folder = join(output, 'seeds', 'machine');
  mkdirSync(folder, { recursive: true });
  const paths = new Set();
  for (const { name } of machines()) {
    const text = flatten(loadMachine(name));
    writeFileSync(join(folder, name), text);
    for (const line of text.split('\n')) if (line !== '') paths.add(line.slice(0, line.indexOf(' ') + 1));
  }
  // A finding is kept as the lines that differ from gb10; the last of two lines of one path counts.
  const kept = join(sources, 'regressions', 'machine');
  for (const name of readdirSync(kept)) {
    const base = readFileSync(join(folder, 'gb10'), 'utf8');
    writeFileSync(join(folder, `regression-${name}`), base + readFileSync(join(kept, name), 'utf8'));
  }
  writeFileSync(join(output, 'machine.dict'), [...paths].map((path) => `"${path}"\n`).join(''));
}

function inputsOf(target) {
  return [join(sources, 'regressions', target), join(sources, 'corpus', target), join(output, 'seeds', target)].filter(
    (folder) => existsSync(folder),
  );
}

function dictionaryOf(target) {
  const file = join(output, `${target}.dict`);
  return existsSync(file) ? [`-dict=${file}`] : [];
}

/** setarch -R: the address sanitizer of clang 14 does not work with the randomisation of newer kernels. */
function program(target) {
  return findTool('setarch') ? ['setarch', ['-R', join(output, target)]] : [join(output, target), []];
}

async function fuzz(target, seconds, seed) {
  const [command, first] = program(target);
  const learnt = join(output, 'learnt', target);
  const found = join(findings, target);
  for (const folder of [learnt, found]) mkdirSync(folder, { recursive: true });
  const common = [...LIMITS, ...dictionaryOf(target), `-artifact_prefix=${found}/`, '-print_final_stats=1'];
  const log = join(output, `${target}.log`);
  const shell = `exec "$0" "$@" > '${log}' 2>&1`;
  const args = [...first, ...common, `-max_total_time=${seconds}`, `-seed=${seed}`, learnt, ...inputsOf(target)];
  const failed = await run('sh', ['-c', shell, command, ...args]).then(
    () => false,
    () => true,
  );
  const text = capture('cat', [log]);
  const last = (pattern) => [...text.matchAll(pattern)].at(-1)?.[1] ?? '?';
  const runs = last(/stat::number_of_executed_units:\s*(\d+)/g);
  console.log(
    `${target.padEnd(10)} ${runs.padStart(9)} inputs, ${last(/ cov: (\d+)/g)} edges${failed ? '  FAILED' : ''}`,
  );
  if (!failed) return [];
  console.error(text.split('\n').slice(-60).join('\n'));
  return readdirSync(found).map((file) => join(found, file));
}

async function fuzzAll(targets, seconds, seed) {
  rmSync(findings, { recursive: true, force: true });
  const workers = Math.min(availableParallelism(), targets.length);
  const each = Math.max(1, Math.floor((seconds * workers) / targets.length));
  const found = [];
  await inParallel(targets.map((target) => async () => found.push(...(await fuzz(target, each, seed)))));
  if (found.length === 0) return;
  const keep = found.map((file) => `  ${file}`).join('\n');
  throw new Error(
    `found inputs that break a parser; repair it and keep them in test/fuzz/regressions/<target>/:\n${keep}`,
  );
}

function pack(folder, targets) {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  for (const target of targets) {
    cpSync(join(output, target), join(folder, 'bin', target));
    for (const inputs of inputsOf(target)) cpSync(inputs, join(folder, 'inputs', target), { recursive: true });
    for (const option of dictionaryOf(target))
      cpSync(option.slice('-dict='.length), join(folder, 'bin', `${target}.dict`));
  }
  cpSync(join(sources, 'run.sh'), join(folder, 'run.sh'));
  console.log(`packed ${targets.join(', ')}: bash ${folder}/run.sh SECONDS OUTPUT`);
}

function wholeNumber(name, text) {
  if (!/^\d{1,6}$/.test(text)) throw new Error(`--${name} is "${text}"; expected a whole number`);
  return Number(text);
}

await main(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: '0' },
      pack: { type: 'string' },
    },
  });
  const unknown = positionals.find((name) => !allTargets.includes(name));
  if (unknown !== undefined) throw new Error(`"${unknown}" is not a target; expected some of ${allTargets.join(', ')}`);
  const targets = positionals.length > 0 ? positionals : allTargets;
  await bootstrap();
  await build();
  await machineSeeds();
  if (values.pack !== undefined) pack(resolve(values.pack), targets);
  else await fuzzAll(targets, wholeNumber('seconds', values.seconds), wholeNumber('seed', values.seed));
});
