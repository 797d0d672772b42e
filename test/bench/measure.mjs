/** Shared by the benchmarks: quantiles, timing, the binary, plain programs to compare with, and the printed results. */

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export function quantile(samples, q) {
  const sorted = Float64Array.from(samples).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))];
}

/** Calls in one sample: enough that reading the clock, which costs more in JavaScript than in C, does not count. */
export const BATCH = 50;

/** Nanoseconds of one synchronous call: means of batches, `count` calls in all. */
export function timeSync(call, count) {
  const samples = new Float64Array(Math.ceil(count / BATCH));
  for (let at = 0; at < samples.length; at++) {
    const from = process.hrtime.bigint();
    for (let i = 0; i < BATCH; i++) call();
    samples[at] = Number(process.hrtime.bigint() - from) / BATCH;
  }
  return samples;
}

export async function timeAsync(call, count) {
  const samples = new Float64Array(count);
  for (let at = 0; at < count; at++) {
    const from = process.hrtime.bigint();
    await call();
    samples[at] = Number(process.hrtime.bigint() - from);
  }
  return samples;
}

/** The native binding of the built addon. */
export function loadBinding() {
  const require = createRequire(import.meta.url);
  return require(require('node-gyp-build').path(fileURLToPath(new URL('../..', import.meta.url))));
}

/** Whether there is a GPU with a driver that answers. */
export function hasGpu() {
  const { status, stdout } = spawnSync('nvidia-smi', ['-L'], { encoding: 'utf8' });
  return status === 0 && stdout.includes('GPU 0');
}

/** A new folder that is removed when this process ends. */
export function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'umaprobe-bench-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export const CUDA_TOOLKIT = process.env.CUDA_HOME ?? '/usr/local/cuda';
export const NVCC = join(CUDA_TOOLKIT, 'bin/nvcc');

/** The path of a program of test/bench/plain. */
export function plainPath(name) {
  return fileURLToPath(new URL(`plain/${name}`, import.meta.url));
}

/** Compiles a program of test/bench/plain and returns its path. */
export function compile(source, flags = [], { compiler = process.env.CC ?? 'cc', optimize = '-O2' } = {}) {
  const program = join(temporaryFolder(), source.replace(/\W/g, '-'));
  execFileSync(compiler, [optimize, '-o', program, plainPath(source), ...flags], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return program;
}

/** Runs a program and returns its output. */
export function run(program, args = []) {
  return execFileSync(program, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 300_000,
  }).trim();
}

/** Milliseconds from start to exit. */
function timeOf(file, args) {
  const from = process.hrtime.bigint();
  const { status } = spawnSync(file, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error(`${file} ${args.join(' ')} exited with ${status}`);
  return Number(process.hrtime.bigint() - from) / 1e6;
}

/** Median milliseconds of commands that alternate, so that a slow second of the machine affects all. */
export function alternating(commands, rounds = 9) {
  const times = commands.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [at, [file, ...args]] of commands.entries()) times[at].push(timeOf(file, args));
  }
  return times.map((list) => quantile(list, 0.5));
}

export const results = [];

/** Prints the ratio of two values of this run, and whether it keeps its limit, where there is one. */
export function compare({ question, ours, theirs, unit, against, atMost, atLeast }) {
  const ratio = ours / theirs;
  const speedup = theirs / ours;
  const held = (atMost === undefined || ratio <= atMost) && (atLeast === undefined || speedup >= atLeast);
  const goal = atMost !== undefined ? `≤ ${atMost}×` : atLeast !== undefined ? `≥ ${atLeast}× faster` : '';
  const shown = atLeast !== undefined ? `${speedup.toFixed(1)}× faster` : `${ratio.toFixed(2)}×`;
  results.push({ question, ours, theirs, unit, against, ratio, goal, held });
  console.log(
    `${held ? 'ok  ' : 'MISS'} ${question}: ${format(ours)} ${unit} against ${format(theirs)} ${unit} (${against}): ${shown} ${goal}`,
  );
}

/** Prints one value, and whether it keeps its limit. */
export function limit({ question, value, unit, atMost }) {
  const held = value <= atMost;
  results.push({ question, ours: value, unit, goal: `≤ ${atMost} ${unit}`, held });
  console.log(`${held ? 'ok  ' : 'MISS'} ${question}: ${format(value)} ${unit} (≤ ${atMost} ${unit})`);
}

export function skip(question, reason) {
  results.push({ question, skipped: reason });
  console.log(`skip ${question}: ${reason}`);
}

function format(value) {
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}
