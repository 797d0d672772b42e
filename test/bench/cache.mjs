/**
 * How fast is a look at the page cache, and an eviction, beside vmtouch (which is what people use)? Files lie in the
 * temporary folder, which must be on a disk; UMAPROBE_BENCH_GIB: size of the large file (8, less where memory is short).
 */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, loadavg, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compare, limit, quantile, skip } from './measure.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const require = createRequire(import.meta.url);
const binding = require(require('node-gyp-build').path(root));

const noSlower = { atMost: 1 };
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

/** Medians of both sides in turns, each first in every other round, so that a slow second of the machine hits both. */
async function inTurns(rounds, before, ours, theirs) {
  const samples = { ours: [], theirs: [] };
  for (let round = 0; round < rounds; round++) {
    const sides = Object.entries({ ours, theirs });
    for (const [side, call] of round % 2 === 0 ? sides : sides.reverse()) {
      await before();
      samples[side].push((await timed(call)).ms);
    }
  }
  return { ours: quantile(samples.ours, 0.5), theirs: quantile(samples.theirs, 0.5) };
}

const vmtouch = (...words) => execFileSync('vmtouch', ['-q', ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
const read = (path) => execFileSync('cat', [path], { stdio: ['ignore', 'ignore', 'inherit'] });
const readTree = (path) => execFileSync('grep', ['-rc', '', path], { stdio: 'ignore' });

/** Whole in cache again, also where somebody else drops caches meanwhile. Bytes that are cached. */
async function refilled(path, bytes, fill) {
  let cached = 0;
  for (let attempt = 0; attempt < 5 && cached < bytes; attempt++) {
    fill(path);
    ({ cached } = await walk(path, 'status'));
  }
  return cached;
}

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
  const cached = await refilled(path, bytes, read);
  const { method } = await walk(path, 'status');
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
    7,
    () => refilled(path, bytes, read),
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
  const { files, cached } = await walk(tree, 'status');
  const look = await inTurns(
    7,
    () => {},
    () => walk(tree, 'status'),
    () => vmtouch(tree),
  );
  compare({ question: `status of ${files} cached files`, ...look, unit: 'ms', against: 'vmtouch', atLeast: 3 });
  const evict = await inTurns(
    7,
    () => refilled(tree, cached, readTree),
    () => walk(tree, 'evict'),
    () => vmtouch('-e', tree),
  );
  compare({ question: `eviction of ${files} cached files`, ...evict, unit: 'ms', against: 'vmtouch -e', ...noSlower });
  eventLoop(tree, files);
}

/**
 * A loop that does nothing is late as well where other programs want the processors, so the best of the rounds counts, less
 * the best of the idle loop: what a call itself holds up it holds up in each.
 */
function eventLoop(tree, files) {
  const program = fileURLToPath(new URL('loop-delay.mjs', import.meta.url));
  const { notDropped, idle, ...calls } = JSON.parse(execFileSync(process.execPath, [program, tree]));
  const words = ({ least, median, most }) => [least, median, most].map((ms) => ms.toFixed(1)).join('/');
  console.log(`     event loop idle: held up for ${words(idle)} ms (least/median/most of the rounds)`);
  for (const [call, held] of Object.entries(calls))
    limit({
      question: `${call} with ${files} files holds up the event loop (${words(held)} ms)`,
      value: Math.max(0, held.least - idle.least),
      unit: 'ms',
      atMost: 5,
    });
  if (notDropped !== undefined) skip('dropCaches() and the event loop', notDropped);
}

const reason = whyNot();
if (reason === null) {
  const load = loadavg().map((value) => value.toFixed(1));
  console.log(`     kernel ${release()}, ${cpus().length} × ${cpus()[0]?.model}, load ${load.join(' ')}`);
  await largeFile();
  await manyFiles();
} else {
  skip('status and eviction beside vmtouch', reason);
}
