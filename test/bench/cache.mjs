/**
 * How fast are status and eviction of the page cache, compared with vmtouch, the usual tool? The files are in the temporary
 * folder, which must be on a disk. UMAPROBE_BENCH_GIB: size of the large file; default 8, less where memory is short.
 */

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compare, limit, loadBinding, quantile, skip, temporaryFolder } from './measure.mjs';

const binding = loadBinding();
const noSlower = { atMost: 1 };
const TMPFS = 0x01021994;
const folder = temporaryFolder();

/** A complete walk, as in cacheStatus and evictFiles; returns its last batch. */
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

/** Medians of both sides, measured alternately with changing order, so that a slow second of the machine affects both. */
async function alternate(rounds, before, ours, theirs) {
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

const vmtouch = (...args) => execFileSync('vmtouch', ['-q', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
const read = (path) => execFileSync('cat', [path], { stdio: ['ignore', 'ignore', 'inherit'] });
const readTree = (path) => execFileSync('grep', ['-rc', '', path], { stdio: 'ignore' });

/** Reads files until all bytes are cached, up to 5 times: other programs may drop caches. Returns the cached bytes. */
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
  const status = await alternate(
    5,
    () => {},
    () => walk(path, 'status'),
    () => vmtouch(path),
  );
  const goal = method === 'cachestat' ? { atLeast: 100 } : {};
  compare({ question: `status of a cached ${name} (${method})`, ...status, unit: 'ms', against: 'vmtouch', ...goal });
  const evict = await alternate(
    7,
    () => refilled(path, bytes, read),
    () => walk(path, 'evict'),
    () => vmtouch('-e', path),
  );
  compare({ question: `eviction of a cached ${name}`, ...evict, unit: 'ms', against: 'vmtouch -e', ...noSlower });
  read(path);
  const { cachedAfter } = await walk(path, 'evict');
  limit({ question: `share that stays cached`, value: (100 * cachedAfter) / bytes, unit: '%', atMost: 1 });
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
  const status = await alternate(
    7,
    () => {},
    () => walk(tree, 'status'),
    () => vmtouch(tree),
  );
  compare({ question: `status of ${files} cached files`, ...status, unit: 'ms', against: 'vmtouch', atLeast: 3 });
  const evict = await alternate(
    7,
    () => refilled(tree, cached, readTree),
    () => walk(tree, 'evict'),
    () => vmtouch('-e', tree),
  );
  compare({ question: `eviction of ${files} cached files`, ...evict, unit: 'ms', against: 'vmtouch -e', ...noSlower });
  eventLoop(tree, files);
}

/**
 * An idle loop is late as well when other programs take the processors. Therefore the value is the best round less the best
 * round of the idle loop: a call delays the loop in every round.
 */
function eventLoop(tree, files) {
  const program = fileURLToPath(new URL('loop-delay.mjs', import.meta.url));
  const { notDropped, idle, ...calls } = JSON.parse(execFileSync(process.execPath, [program, tree]));
  const format = ({ least, median, most }) => [least, median, most].map((ms) => ms.toFixed(1)).join('/');
  console.log(`     event loop idle: blocked for ${format(idle)} ms (least/median/most of the rounds)`);
  for (const [call, held] of Object.entries(calls))
    limit({
      question: `${call} with ${files} files blocks the event loop (${format(held)} ms)`,
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
  skip('status and eviction compared with vmtouch', reason);
}
