/**
 * What does the guard's thread cost at 5 ms, and how long after MemAvailable falls below the floor does allocation stop?
 * On the real kernel. With a GPU, allocations are made meanwhile; without one the allocator is idle, and the time from the
 * kernel's number to the stop is measured.
 */

import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { compile, limit, loadBinding, quantile, skip, temporaryFolder } from './measure.mjs';

const MiB = 2 ** 20;
const TRIPS = Number(process.env.UMAPROBE_BENCH_TRIPS ?? 100);
const binding = loadBinding();
const rulesOf = (floorBytes, pressureFullPercent, reportFd) => ({
  floorBytes,
  pressureFullPercent,
  parent: process.ppid,
  exitAfterMs: 0,
  reportFd,
});
const folder = temporaryFolder();

const host = new Float64Array(binding.hostMemoryFields().length);
function available() {
  binding.hostMemory(host);
  return host[binding.hostMemoryFields().indexOf('available')];
}

/** Throws a failure that a call of the binding returned. */
function check(failure) {
  if (failure) throw new Error(`${failure.call}: ${failure.message}`);
}

/** Allocates blocks of 64 MiB and frees each at once, until `done()`. */
async function allocate(done) {
  while (!done()) {
    const { block } = await binding.allocBlock('device', 64 * MiB, 10_000);
    if (block === undefined) return;
    await binding.freeBlock(block, 10_000);
  }
}

async function waitFor(condition) {
  while (!condition()) await sleep(1);
}

/** Milliseconds from the threshold to the stop; null: another program took the memory first. */
async function react(program, busy) {
  const reports = join(folder, 'reports');
  writeFileSync(reports, '');
  const fd = openSync(reports, 'a');
  const floor = available() - 192 * MiB;
  check(binding.guardStart(rulesOf(floor, 0, fd)));
  const taker = spawn(program, [String(floor), String(1024 * MiB)], { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  taker.stdout.setEncoding('utf8').on('data', (text) => {
    printed += text;
  });
  const ended = new Promise((resolve) => taker.once('close', resolve));
  let done = false;
  const allocating = busy ? allocate(() => done) : null;
  const code = await ended;
  done = true;
  await allocating;
  if (code === 0) await waitFor(() => binding.guardRead().trip?.stoppedAfterMs != null);
  binding.guardStop();
  closeSync(fd);
  if (code !== 0) return null;
  const { atMs } = JSON.parse(readFileSync(reports, 'utf8').split('\n')[0]);
  const reaction = atMs + binding.guardRead().trip.stoppedAfterMs - Number(printed);
  return reaction < 0 ? null : reaction;
}

async function reactions(program, busy) {
  const times = [];
  for (let tries = 0; times.length < TRIPS && tries < 3 * TRIPS; tries++) {
    const time = await react(program, busy);
    if (time !== null) times.push(time);
    // A random pause, so that trips are not synchronous with the guard's ticks.
    await sleep(Math.random() * 20);
  }
  return times;
}

async function cost() {
  check(binding.guardStart(rulesOf(1, 100, -1)));
  await sleep(500);
  const [before, from] = [binding.guardRead(), performance.now()];
  await sleep(10_000);
  const [after, to] = [binding.guardRead(), performance.now()];
  binding.guardStop();
  const ticks = after.ticks - before.ticks;
  const share = (100 * (after.cpuMs - before.cpuMs)) / (to - from);
  console.log(
    `     ${ticks} ticks in ${((to - from) / 1e3).toFixed(1)} s, ${((1e3 * (after.cpuMs - before.cpuMs)) / ticks).toFixed(1)} µs each`,
  );
  limit({ question: 'guard at 5 ms, share of one core', value: share, unit: '%', atMost: 1 });
}

if (binding.simulatedMachine() !== null) {
  skip('guard', 'the machine is simulated: its memory cannot be taken by a program outside');
} else {
  const opened = await binding.allocOpen(0, 60_000);
  const busy = !opened.failed;
  console.log(
    `     ${busy ? 'allocating 64 MiB blocks on the GPU meanwhile' : `no GPU (${opened.name}): idle allocator`}`,
  );
  await cost();
  const program = compile('take_memory.c');
  const show = (times, load) =>
    console.log(
      `     reaction ${load}: p50 ${quantile(times, 0.5).toFixed(2)} ms, p99 ${quantile(times, 0.99).toFixed(2)} ms, max ${quantile(times, 1).toFixed(2)} ms, ${times.length} trips`,
    );
  const idle = await reactions(program, busy);
  show(idle, 'on an otherwise idle machine');
  limit({
    question: 'threshold crossed to allocation stopped, p99',
    value: quantile(idle, 0.99),
    unit: 'ms',
    atMost: 15,
  });
  const spinners = Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  try {
    show(await reactions(program, busy), `with ${spinners.length} cores loaded`);
  } finally {
    for (const spinner of spinners) spinner.kill('SIGKILL');
  }
}
