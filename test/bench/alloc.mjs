/** Allocation, touch and free compared with a plain CUDA C++ program, and the time of a step outside CUDA. Needs a real GPU. */

import { existsSync } from 'node:fs';
import { snapshot } from 'umaprobe';
import { compare, compile, limit, NVCC, plainPath, quantile, run, skip } from './measure.mjs';

const GB = 1e9;
const ROUNDS = 6;
const REPEATS = 5;

/** The times that one program printed, without the first repeat of a size: [{bytes, alloc, first, …}]. */
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
  // Alternately, so that a slow minute of the machine affects both.
  for (let round = 0; round < ROUNDS; round++) {
    ours.push(
      measured(
        process.execPath,
        [plainPath('alloc.mjs'), ...args],
        ['alloc', 'first', 'second', 'verify', 'free', 'rest'],
      ),
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
/** The best round: other programs share the host and disturb some rounds. */
const best = (rounds, bytes, name) => Math.min(...medians(rounds, bytes, name));

/**
 * 5 %, or the spread of the rounds of the plain program itself: its cudaFree of 60 GB takes 25 to 41 ms on one H200.
 */
function tolerance(rounds, bytes, name) {
  const [least, most] = [best(rounds, bytes, name), Math.max(...medians(rounds, bytes, name))];
  return Math.max(1.05, Number((most / least).toFixed(2)));
}

function report({ ours, theirs }, sizes) {
  for (const bytes of sizes) {
    const size = `${bytes / GB} GB`;
    for (const [name, call] of [
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
        against: `C++: ${call}`,
        atMost: tolerance(theirs, bytes, name),
      });
    }
    const rate = (rows, name) => (bytes / 1e9 / best(rows, bytes, name)).toFixed(3);
    console.log(
      `     ${size}: fill ${rate(ours, 'second')} TB/s, verify ${rate(ours, 'verify')} TB/s; plain kernel ${rate(theirs, 'second')} TB/s, cudaMemset ${rate(theirs, 'set')} TB/s`,
    );
  }
  const rest = ours.flat().map((row) => row.rest);
  limit({ question: 'time of a step outside CUDA, p50', value: quantile(rest, 0.5), unit: 'ms', atMost: 5 });
  limit({ question: 'time of a step outside CUDA, p95', value: quantile(rest, 0.95), unit: 'ms', atMost: 5 });
  console.log(`     the worst of ${rest.length}: ${quantile(rest, 1).toFixed(2)} ms`);
}

const question = 'allocator';
const { devices, simulated } = await snapshot({ memGetInfo: 'never' });
if (devices.length === 0 || simulated !== null) {
  skip(question, simulated === null ? 'no GPU on this machine' : 'the machine is simulated');
} else if (!existsSync(NVCC)) {
  skip(question, `no ${NVCC} to build the plain program with`);
} else {
  const total = devices[0].nvml?.free ?? 0;
  const sizes = [1, 10, 60].map((gb) => gb * GB).filter((bytes) => bytes < total * 0.9);
  report(measureAll(compile('alloc.cu', ['-arch=native'], { compiler: NVCC, optimize: '-O3' }), sizes), sizes);
}
