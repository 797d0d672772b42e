/**
 * umaprobe-guard on the real kernel: its CPU time beside earlyoom's, the time from a threshold to its signal
 * and to the end of the program, and what it adds
 * to the start of a command.
 */

import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { guard as guardProgram, record } from 'umaprobe/run';
import { loadLib } from '../../scripts/load-lib.mjs';
import { compare, compile, limit, quantile, skip, temporaryFolder } from './measure.mjs';

const MiB = 2 ** 20;
const GiB = 2 ** 30;
const root = fileURLToPath(new URL('../..', import.meta.url));
const guard = join(root, 'build', 'Release', 'umaprobe-guard');
const cli = join(root, 'dist', 'cli.js');
const TRIPS = Number(process.env.UMAPROBE_BENCH_TRIPS ?? 100);
const SECONDS = Number(process.env.UMAPROBE_BENCH_SECONDS ?? 10);

const available = () => Number(/MemAvailable: +(\d+) kB/.exec(readFileSync('/proc/meminfo', 'utf8'))[1]) * 1024;

const { guardThresholds } = await loadLib('lib/core/memory/guard-rules.ts');
const { guardArguments } = await loadLib('lib/run/guard/protocol.ts');

/** What the guard is given on a machine of this size. `rules`: a file. */
function argumentsOf({ floorBytes = 0, killBelowBytes = 0, intervalMs = 10, report = -1, rules = null }, command) {
  const thresholds = guardThresholds(totalmem(), { floorBytes, killBelowBytes });
  const fds = { report, control: -1, signals: -1, readings: -1 };
  const words = guardArguments(thresholds, { intervalMs, graceMs: 5000, fds });
  return [...words, ...(rules === null ? [] : [`--rules=${rules}`]), '--', ...command];
}

/** Nothing that is seen is a fall. */
const NO_FALL = join(temporaryFolder(), 'rules');
writeFileSync(NO_FALL, `min_fall_bytes ${2 ** 50}\n`);

/** CPU time in ns of all threads, from the scheduler, and how often the first one slept. */
function usage(pid) {
  const ns = readdirSync(`/proc/${pid}/task`)
    .map((task) => Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]))
    .reduce((sum, value) => sum + value, 0);
  const sleeps = Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
  return { ns, sleeps };
}

/** What a running program uses, once it has started. */
async function used(child, seconds = SECONDS) {
  await sleep(1500);
  const before = usage(child.pid);
  await sleep(seconds * 1000);
  const after = usage(child.pid);
  child.kill('SIGTERM');
  await new Promise((resolve) => child.once('exit', resolve));
  return {
    percent: (after.ns - before.ns) / seconds / 1e7,
    perPoll: (after.ns - before.ns) / (after.sleeps - before.sleeps) / 1e3,
  };
}

const quiet = { stdio: ['ignore', 'ignore', 'ignore'] };
const near = () => Math.floor(available() - 2 * GiB);
const guardAt = (intervalMs) => spawn(guard, argumentsOf({ floorBytes: near(), intervalMs }, ['sleep', '60']), quiet);

async function beside() {
  const question = 'the guard at 10 Hz, CPU time of a poll';
  if (spawnSync('earlyoom', ['-v']).error) return skip(question, 'no earlyoom (Debian: apt-get install earlyoom)');
  // Near its threshold earlyoom polls ten times a second.
  const threshold = Math.round((available() - 300 * MiB) / 1024);
  const theirs = await used(spawn('earlyoom', ['--dryrun', '-r', '0', '-M', String(threshold)], quiet));
  const ours = await used(guardAt(100));
  compare({ question, ours: ours.perPoll, theirs: theirs.perPoll, unit: 'µs', against: 'earlyoom', atMost: 2 });
}

/** As in a launch: one process guards a program, and records. The guard's readings serve both. */
async function together(intervalMs, atMost) {
  const recorder = await record({ folder: temporaryFolder(), intervalMs, processesMs: 0 });
  const ending = new AbortController();
  let program;
  const guarded = guardProgram({
    command: ['sleep', '60'],
    floorBytes: near(),
    intervalMs,
    signal: ending.signal,
    onEvent: (event) => {
      if (event.type === 'started') program = event.pid;
    },
  });
  await sleep(1500);
  const pid = Number(/\) . (\d+)/.exec(readFileSync(`/proc/${program}/stat`, 'utf8'))[1]);
  const sum = () => ({ at: performance.now(), ...usage(pid), recorded: recorder.state().cpuMs });
  const before = sum();
  await sleep(SECONDS * 1000);
  const after = sum();
  ending.abort();
  await guarded;
  await recorder.stop();
  const percent = (ms) => (ms / (after.at - before.at)) * 100;
  const guards = percent((after.ns - before.ns) / 1e6);
  const records = percent(after.recorded - before.recorded);
  const question = `guard (${guards.toFixed(2)} %) and record (${records.toFixed(2)} %) every ${intervalMs} ms, CPU time`;
  limit({ question, value: guards + records, unit: '% of one core', atMost });
}

/** Milliseconds from the threshold to the signal, and to the end of the program; null: the program ended by itself. */
async function react(program) {
  const threshold = Math.floor(available() - 96 * MiB);
  const keys = { floorBytes: threshold, killBelowBytes: threshold, report: 3, rules: NO_FALL };
  const child = spawn(guard, argumentsOf(keys, [program, String(threshold), String(GiB)]), {
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
  });
  let crossed = '';
  let report = '';
  child.stdout.on('data', (text) => (crossed += text));
  child.stdio[3].on('data', (text) => (report += text));
  await new Promise((resolve) => child.once('close', resolve));
  const ended = JSON.parse(report.slice(report.lastIndexOf('\n', report.length - 2) + 1));
  const stop = ended.actions.find(({ action }) => action !== 'warn');
  if (stop === undefined) return null;
  // The guard may see it first: then there is nothing to wait for.
  const after = (at) => (crossed === '' ? 0 : Math.max(0, Date.parse(at) - Number(crossed)));
  return { signal: after(stop.at), gone: after(ended.at) };
}

async function reactions(question, program, atMost) {
  const times = [];
  for (let tries = 0; times.length < TRIPS && tries < 3 * TRIPS; tries++) {
    const time = await react(program);
    if (time !== null) times.push(time);
    await sleep(Math.random() * 20);
  }
  if (times.length === 0) return skip(question, 'other programs move MemAvailable too much');
  const signal = times.map((time) => time.signal);
  const p50 = quantile(signal, 0.5).toFixed(1);
  limit({
    question: `from the threshold to the signal, ${question}: p50 ${p50} ms, ${times.length} times, p99`,
    value: quantile(signal, 0.99),
    unit: 'ms',
    atMost,
  });
  limit({
    question: `from the threshold to the end of the program, ${question}: median`,
    value: quantile(
      times.map((time) => time.gone),
      0.5,
    ),
    unit: 'ms',
    atMost: 35,
  });
}

function startTime(file, args) {
  const times = Array.from({ length: 15 }, () => {
    const from = performance.now();
    spawnSync(file, args, quiet);
    return performance.now() - from;
  });
  return quantile(times, 0.5);
}

function starts() {
  const bare = startTime('true', []);
  const node = startTime(process.execPath, ['-e', '0']) - bare;
  const program = startTime(guard, argumentsOf({}, ['true'])) - bare;
  const guarded = startTime(process.execPath, [cli, 'guard', '--', 'true']) - bare;
  limit({ question: 'umaprobe-guard -- true, more than true', value: program, unit: 'ms', atMost: 60 });
  const question = `umaprobe guard -- true, more than true: ${guarded.toFixed(0)} ms, of which Node ${node.toFixed(0)}; times Node`;
  limit({ question, value: guarded / node, unit: '', atMost: 1.7 });
}

await beside();
await together(10, 1.2);
await together(1, 5);
const program = compile('cross.c');
await reactions('idle', program, 15);
const busy = Array.from({ length: availableParallelism() }, () => spawn('sh', ['-c', 'while :; do :; done'], quiet));
await reactions('all cores loaded', program, 30);
for (const child of busy) child.kill('SIGKILL');
starts();
