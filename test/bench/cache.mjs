/**
 * How fast is a look at the page cache, and an eviction, beside vmtouch (which is what people use)? Files lie in the
 * temporary folder, which must be on a disk; UMAPROBE_BENCH_GIB: size of the large file (8, less where memory is short).
 */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { compare, limit, quantile, skip } from './measure.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const require = createRequire(import.meta.url);
const binding = require(require('node-gyp-build').path(root));

/** Nearly all of it is the kernel's time, the same on both sides; the rest is what two medians differ by. */
const noSlower = { atMost: 1.05 };
const TMPFS = 0x01021994;
const folder = mkdtempSync(join(tmpdir(), 'umaprobe-bench-cache-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** All of a walk, as cacheStatus and evictFiles do it. */
async function walk(path, mode, method) {
  const id = binding.cacheWalk([path], { mode, listEmpty: false, top: 20, ...(method && { method }) });
  for (;;) {
    const batch = await binding.cacheNext(id, 50, 600_000);
    if (batch.failed) throw new Error(batch.message);
    if (batch.done) return batch;
  }
}

async function timed(call) {
  const from = process.hrtime.bigint();
  const result = await call();
  return { ms: Number(process.hrtime.bigint() - from) / 1e6, result };
}

/** Medians of both sides in turns, so that a slow second of the machine hits both; `before` each. */
async function inTurns(rounds, before, ours, theirs) {
  const samples = { ours: [], theirs: [] };
  for (let round = 0; round < rounds; round++) {
    for (const [side, call] of Object.entries({ ours, theirs })) {
      before();
      samples[side].push((await timed(call)).ms);
    }
  }
  return { ours: quantile(samples.ours, 0.5), theirs: quantile(samples.theirs, 0.5) };
}

const vmtouch = (...words) => execFileSync('vmtouch', ['-q', ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
const read = (path) => execFileSync('cat', [path], { stdio: ['ignore', 'ignore', 'inherit'] });
const readTree = (path) => execFileSync('grep', ['-rc', '', path], { stdio: 'ignore' });

function available() {
  return Number(/^MemAvailable:\s+(\d+) kB/m.exec(readFileSync('/proc/meminfo', 'utf8'))[1]) * 1024;
}

function whyNot() {
  try {
    execFileSync('vmtouch', ['-h'], { stdio: 'ignore' });
  } catch (error) {
    if (error.code === 'ENOENT') return 'vmtouch is not installed (Debian: apt-get install vmtouch)';
  }
  return statfsSync(folder).type === TMPFS ? `${folder} is in memory: set TMPDIR to a folder on a disk` : null;
}

async function largeFile() {
  const wanted = Number(process.env.UMAPROBE_BENCH_GIB ?? 8) * 2 ** 30;
  const bytes = Math.min(wanted, 2 ** Math.floor(Math.log2(available() / 2)));
  const name = `file of ${bytes / 2 ** 30} GiB`;
  const path = join(folder, 'large');
  execFileSync('dd', ['if=/dev/zero', `of=${path}`, 'bs=8M', `count=${bytes / 2 ** 23}`, 'conv=fsync'], {
    stdio: 'ignore',
  });
  const { cached, method } = await walk(path, 'status');
  if (cached < bytes) return skip(name, `only ${cached} of ${bytes} bytes stay cached`);
  const look = await inTurns(
    5,
    () => {},
    () => walk(path, 'status'),
    () => vmtouch(path),
  );
  const goal = method === 'cachestat' ? { atLeast: 100 } : {};
  compare({ question: `status of a cached ${name} (${method})`, ...look, unit: 'ms', against: 'vmtouch', ...goal });
  const evict = await inTurns(
    3,
    () => read(path),
    () => walk(path, 'evict'),
    () => vmtouch('-e', path),
  );
  compare({ question: `eviction of a cached ${name}`, ...evict, unit: 'ms', against: 'vmtouch -e', ...noSlower });
  read(path);
  const { cachedAfter } = await walk(path, 'evict');
  limit({ question: `what stays of it`, value: (100 * cachedAfter) / bytes, unit: '%', atMost: 1 });
  rmSync(path);
}

async function manyFiles() {
  const tree = join(folder, 'tree');
  for (let d = 0; d < 200; d++) {
    mkdirSync(join(tree, `d${d}`), { recursive: true });
    for (let f = 0; f < 500; f++) writeFileSync(join(tree, `d${d}`, `f${f}`), 'x'.repeat(100 + f));
  }
  execFileSync('sync');
  const { files } = await walk(tree, 'status');
  const look = await inTurns(
    7,
    () => {},
    () => walk(tree, 'status'),
    () => vmtouch(tree),
  );
  compare({ question: `status of ${files} cached files`, ...look, unit: 'ms', against: 'vmtouch', atLeast: 3 });
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const worst = [];
  for (const mode of ['status', 'status', 'evict']) {
    delay.enable();
    delay.reset();
    await walk(tree, mode);
    delay.disable();
    // Counts from the tick before, so its own millisecond is in it.
    worst.push(delay.max / 1e6 - 1);
  }
  const evict = await inTurns(
    3,
    () => readTree(tree),
    () => walk(tree, 'evict'),
    () => vmtouch('-e', tree),
  );
  compare({ question: `eviction of ${files} cached files`, ...evict, unit: 'ms', against: 'vmtouch -e', ...noSlower });
  limit({ question: 'longest time that the event loop was held up', value: Math.max(...worst), unit: 'ms', atMost: 5 });
}

const reason = whyNot();
if (reason === null) {
  await largeFile();
  await manyFiles();
} else {
  skip('status and eviction beside vmtouch', reason);
}
