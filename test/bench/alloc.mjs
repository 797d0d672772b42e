/** Allocation, touch and free beside a plain CUDA C++ program, and the time of a step that is not CUDA's. Needs a real GPU. */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { snapshot } from 'umaprobe';
import { compare, limit, quantile, run, skip } from './measure.mjs';

const GB = 1e9;
const ROUNDS = 6;
const REPEATS = 5;
const nvcc = `${process.env.CUDA_HOME ?? '/usr/local/cuda'}/bin/nvcc`;
const plain = (name) => fileURLToPath(new URL(`plain/${name}`, import.meta.url));

/** What one program said, without the first repeat of a size: [{bytes, alloc, first, …}]. */
function measured(program, args, names) {
  const rows = run(program, args)
    .split('\n')
    .map((line) => line.split(' ').map(Number));
  return rows
    .filter((row, at) => at > 0 && rows[at - 1][0] === row[0])
    .map(([bytes, ...times]) => ({ bytes, ...Object.fromEntries(names.map((name, at) => [name, times[at]])) }));
}

function measureAll(program, sizes) {
  const args = [String(REPEATS + 1), ...sizes.map(String)];
  const ours = [];
  const theirs = [];
  // In turns, so that a slow minute of the machine hits both.
  for (let round = 0; round < ROUNDS; round++) {
    ours.push(
      measured(process.execPath, [plain('alloc.mjs'), ...args], ['alloc', 'first', 'second', 'verify', 'free', 'rest']),
    );
    theirs.push(measured(program, args, ['alloc', 'first', 'second', 'set', 'free']));
  }
  return { ours, theirs };
}

/** The median of each round's repeats. */
const medians = (rounds, bytes, name) =>
  rounds.map((rows) =>
    quantile(
      rows.filter((row) => row.bytes === bytes).map((row) => row[name]),
      0.5,
    ),
  );
/** Of the rounds the least disturbed one: the host is shared with strangers. */
const best = (rounds, bytes, name) => Math.min(...medians(rounds, bytes, name));

/**
 * 5 %, or what lies between two rounds of the plain program itself: cudaFree of 60 GB takes it 25 to 41 ms on one H200, and
 * nobody can be steadier than that.
 */
function tolerance(rounds, bytes, name) {
  const [least, most] = [best(rounds, bytes, name), Math.max(...medians(rounds, bytes, name))];
  return Math.max(1.05, Number((most / least).toFixed(2)));
}

function report({ ours, theirs }, sizes) {
  for (const bytes of sizes) {
    const size = `${bytes / GB} GB`;
    for (const [name, words] of [
      ['alloc', 'cudaMalloc'],
      ['first', 'a kernel’s first touch'],
      ['second', 'a kernel’s second touch'],
      ['free', 'cudaFree'],
    ]) {
      const [a, b] = [best(ours, bytes, name), best(theirs, bytes, name)];
      compare({
        question: `${size} ${name}`,
        ours: a,
        theirs: b,
        unit: 'ms',
        against: `C++: ${words}`,
        atMost: tolerance(theirs, bytes, name),
      });
    }
    const rate = (rows, name) => (bytes / 1e9 / best(rows, bytes, name)).toFixed(3);
    console.log(
      `     ${size}: fill ${rate(ours, 'second')} TB/s, verify ${rate(ours, 'verify')} TB/s; plain kernel ${rate(theirs, 'second')} TB/s, cudaMemset ${rate(theirs, 'set')} TB/s`,
    );
  }
  const rest = ours.flat().map((row) => row.rest);
  limit({ question: 'time of a step that is not CUDA’s, p50', value: quantile(rest, 0.5), unit: 'ms', atMost: 5 });
  limit({ question: 'time of a step that is not CUDA’s, p95', value: quantile(rest, 0.95), unit: 'ms', atMost: 5 });
  console.log(`     the worst of ${rest.length}: ${quantile(rest, 1).toFixed(2)} ms`);
}

const question = 'allocator';
const { devices, simulated } = await snapshot({ memGetInfo: 'never' });
if (devices.length === 0 || simulated !== null) {
  skip(question, simulated === null ? 'no GPU on this machine' : 'the machine is simulated');
} else if (!existsSync(nvcc)) {
  skip(question, `no ${nvcc} to build the plain program with`);
} else {
  const total = devices[0].nvml?.free ?? 0;
  const sizes = [1, 10, 60].map((gb) => gb * GB).filter((bytes) => bytes < total * 0.9);
  const folder = mkdtempSync(join(tmpdir(), 'umaprobe-bench-'));
  try {
    const program = join(folder, 'alloc');
    execFileSync(nvcc, ['-O3', '-arch=native', '-o', program, plain('alloc.cu')], { stdio: 'inherit' });
    report(measureAll(program, sizes), sizes);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
