/** What every benchmark here needs: quantiles, a compiler for the plain programs, and one way to print a ratio. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export function quantile(samples, q) {
  const sorted = Float64Array.from(samples).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))];
}

/** Calls in one sample. Reading the clock costs more in JavaScript than in C; over this many it is nothing in both. */
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

const folder = mkdtempSync(join(tmpdir(), 'umaprobe-bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** Compiles one of test/bench/plain; returns the program. */
export function compile(source, flags = []) {
  const program = join(folder, source.replace(/\W/g, '-'));
  const path = fileURLToPath(new URL(`plain/${source}`, import.meta.url));
  execFileSync(process.env.CC ?? 'cc', ['-O2', '-o', program, path, ...flags], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return program;
}

export function run(program, args = []) {
  return execFileSync(program, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 300_000,
  }).trim();
}

export const results = [];

/** One comparison: both sides measured in this run, and the limit of the ratio where there is one. */
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

/** One number with a limit of its own. */
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
