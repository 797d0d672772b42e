/**
 * The process that scripts/soak.mjs watches: mixed use of the library, round after round, on a simulated machine or on the
 * real kernel. After each round it rests, collects garbage and reports what it holds; "end" on its input ends it.
 *   node --expose-gc subject.mjs simulated|real SECONDS [descriptor|thread|memory|handle]
 * Between two rounds it rests for SECONDS. The last argument plants a leak, to show that it is found.
 */

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import {
  cacheStatus,
  compact,
  dropCaches,
  evictFiles,
  hostMemorySync,
  layout,
  memGetInfo,
  memGetInfoSync,
  prepare,
  reclaim,
  snapshot,
  stress,
  sweep,
  watch,
} from 'umaprobe';
import { activate, loadMachine, simulate } from 'umaprobe/sim';

const [kind, rest, plant] = process.argv.slice(2);
const simulated = kind === 'simulated';
const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const MiB = 2 ** 20;
/** Exit codes of doctor: docs/errors.md. */
const WARNED = 1;
const FAILED = 7;

/** Everything that this process writes: simulated machines, journals, model files. */
const folder = mkdtempSync(join(tmpdir(), 'umaprobe-soak-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const machines = join(folder, 'machines');
const models = join(folder, 'models');
for (const path of [machines, models]) mkdirSync(path);
process.env.XDG_RUNTIME_DIR = machines;
const journal = join(folder, 'journal.jsonl');

/** A GB10 whose driver fails and hangs now and then: the calls come back, each after a fifth of a second. */
function oddMachine() {
  const hangs = [300, 3_000, 30_000].map((after) => ({
    call: 'nvmlDeviceGetTemperature',
    ms: 4_000,
    after,
    times: 5,
  }));
  const fails = [500, 5_000, 50_000].map((after) => ({ call: 'cudaMemGetInfo', status: 2, after, times: 20 }));
  const machine = loadMachine('gb10');
  return { ...machine, faults: { ...machine.faults, hang: hangs, fail: fails } };
}

if (simulated) activate(simulate(oddMachine(), { scale: 20 }));

/** Errors on purpose and their number; any other error ends the process. */
const errors = new Map();
const EXPECTED = /^(ERR_UMA_\w+|ERR_INVALID_ARG_\w+|ERR_OUT_OF_RANGE|ABORT_ERR)$/;
async function tried(use) {
  try {
    return await use();
  } catch (error) {
    if (!EXPECTED.test(error.code)) throw error;
    errors.set(error.code, (errors.get(error.code) ?? 0) + 1);
    return null;
  }
}

const planted = [];
const leak = {
  descriptor: () => planted.push(openSync('/dev/null')),
  thread: () => planted.push(new Worker('setInterval(() => {}, 1e6)', { eval: true })),
  handle: () => planted.push(setInterval(() => {}, 1e6)),
};

async function readings() {
  // So many that a leak of 1 KiB per snapshot shows within a minute.
  for (let i = 0; i < 300; i++) {
    await snapshot({ deadlineMs: 100 });
    if (plant === 'memory') planted.push(Buffer.alloc(1024, i));
  }
  await snapshot({ memGetInfo: 'never', deadlineMs: 1 });
  for (let i = 0; i < 1000; i++) hostMemorySync();
  for (let i = 0; i < 20; i++) await tried(() => memGetInfo(0, { deadlineMs: 1000 }));
  await tried(() => memGetInfoSync());
  let left = 3;
  for await (const each of watch({ intervalMs: 10 })) if (each === null || --left === 0) break;
  for await (const each of watch({ intervalMs: 10, signal: AbortSignal.timeout(25) })) if (each === null) break;
}

async function mistakes() {
  await tried(() => memGetInfo(255));
  await tried(() => memGetInfo(-1));
  await tried(() => sweep({ sizes: [] }));
  await tried(() => cacheStatus([join(folder, 'nothing')]));
  await tried(() => snapshot({ deadlineMs: Number.NaN }));
  await tried(() => stress({ journal: machines }));
}

/** Children that allocate: one that ends, one that is stopped, one that runs out of time. */
async function probes() {
  const common = { journal, floorBytes: 8 * 2 ** 30 };
  await tried(() => sweep({ ...common, sizes: [64 * MiB, 256 * MiB], kinds: ['device'], repeat: 1 }));
  await tried(() => layout({ weights: 64 * MiB, cache: 32 * MiB }, common));
  await tried(() =>
    stress({ ...common, maxBytes: 512 * MiB, chunkBytes: 256 * MiB, signal: AbortSignal.timeout(400) }),
  );
  await tried(() => sweep({ ...common, preset: 'quick', timeoutMs: 300 }));
}

/** Made once: malloc keeps or returns pages of this size as it likes, which would hide a leak. */
const weights = Buffer.alloc(4 * MiB, 7);

async function pageCache() {
  writeFileSync(join(models, 'model.gguf'), weights);
  await tried(() => cacheStatus([models]));
  await tried(() => evictFiles([models], { sync: true }));
  await tried(() => prepare({ bytes: 64 * MiB, paths: [models], dryRun: !simulated }));
  // On the real kernel these would slow down everything else that runs there.
  if (simulated) {
    await tried(() => dropCaches({ level: 3 }));
    await tried(() => compact());
    await tried(() => reclaim({ bytes: 16 * MiB }));
  }
}

/** A thread that loads the library, reads and ends; a machine that is booted, read and closed; a command. */
async function neighbours() {
  const text = `import('umaprobe').then(({ snapshot }) => snapshot({ memGetInfo: 'never' }))`;
  const worker = new Worker(text, { eval: true });
  await new Promise((resolve, reject) => worker.once('exit', resolve).once('error', reject));
  const machine = simulate('gb10-busy', { scale: 100 });
  machine.record();
  machine.close();
  const args = [cli, ...(simulated ? [] : ['--sim', 'gb10']), 'doctor', '--json'];
  await promisify(execFile)(process.execPath, args, { maxBuffer: 16 * MiB }).catch(({ code }) => {
    // A check has warned or failed, which is an answer: calls of the odd machine fail and hang now and then.
    if (code !== WARNED && code !== FAILED) throw new Error(`umaprobe doctor: exit code ${code}`);
  });
}

const field = (name) =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
const childrenOf = (pid) =>
  readdirSync(`/proc/${pid}/task`).flatMap((tid) =>
    readFileSync(`/proc/${pid}/task/${tid}/children`, 'utf8').split(' ').filter(Boolean),
  );

/** What the process holds at rest. The descriptors exclude the one that lists them. */
async function sample(round) {
  await sleep(50 + Number(rest) * 1000);
  for (let i = 0; i < 2; i++) {
    globalThis.gc();
    await new Promise(setImmediate);
  }
  const { external, heapUsed } = process.memoryUsage();
  return {
    round,
    rssBytes: field('VmRSS') * 1024,
    heapBytes: heapUsed,
    externalBytes: external,
    descriptors: readdirSync('/proc/self/fd').length - 1,
    threads: field('Threads'),
    handles: process.getActiveResourcesInfo().length,
    machineFiles: readdirSync(machines, { recursive: true }).length,
    children: childrenOf(process.pid).length,
    errors: Object.fromEntries(errors),
  };
}

let ended = false;
createInterface({ input: process.stdin }).on('line', (line) => {
  ended ||= line === 'end';
});
for (let round = 0; !ended; round++) {
  await readings();
  await mistakes();
  await pageCache();
  if (round % 5 === 0) await neighbours();
  if (round % 5 === 2) await probes();
  leak[plant]?.();
  console.log(JSON.stringify(await sample(round)));
}
process.exit();
