/** How fast is a log of 1 GB searched for messages about memory, and how much memory does that take? */

import { spawnSync } from 'node:child_process';
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compare, limit, temporaryFolder } from './measure.mjs';

const DIST = new URL('../../dist/run.js', import.meta.url).href;
const GB = 1e9;
const GOAL_MB_PER_S = 200;
const ROUNDS = 3;

const folder = temporaryFolder();
const error =
  'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 121.69 GiB of which 1.00 GiB is free.';
const lines = [
  '(EngineCore pid=185) INFO 05-04 23:44:44 [loggers.py:248] Engine 000: Avg prompt throughput: 812.4 tokens/s, Running: 12 reqs, GPU KV cache usage: 12.3%',
  'INFO:     127.0.0.1:41702 - "POST /v1/chat/completions HTTP/1.1" 200 OK',
  'slot update_slots: id  0 | task 812 | prompt processing progress, n_past = 4096, n_tokens = 2048, progress = 0.25',
  'Nov 22 08:10:01 spark systemd[1]: Started Session 812 of User nvidia.',
  '2026-11-22 08:10:01,345 - transformers.modeling_utils - INFO - loading weights file model-00012-of-00040.safetensors',
  'time=2026-03-21T23:22:17.155-05:00 level=INFO source=sched.go:484 msg="system memory" total="121.7 GiB" free="98.2 GiB"',
  '{"level":"info","ts":"2026-11-22T08:10:01Z","msg":"memory usage","allocated":412312,"failed":0}',
];

/** A file of about 1 GB, with an error in each piece of 8 MB. */
function makeLog() {
  const path = join(folder, 'big.log');
  const piece = Buffer.from(
    `${`${lines.join('\n')}\n`.repeat(Math.ceil(8e6 / (lines.join('\n').length + 1)))}${error}\n`,
  );
  const file = openSync(path, 'w');
  let bytes = 0;
  while (bytes < GB) bytes += writeSync(file, piece);
  closeSync(file);
  return { path, bytes };
}

/** Reads a log in a process of its own: seconds of its processor, and its anonymous memory. */
const code = `
  import { openSync, readFileSync, readSync } from 'node:fs';
  const { explainError } = await import(process.argv[1]);
  const anonymous = () => Number(/RssAnon:\\s+(\\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024;
  let peak = 0;
  function* pieces(path) {
    const file = openSync(path, 'r');
    const buffer = Buffer.allocUnsafe(65536);
    for (let count = 0, read; (read = readSync(file, buffer)) > 0; count++) {
      if (count % 64 === 0) peak = Math.max(peak, anonymous());
      yield buffer.subarray(0, read);
    }
  }
  await explainError('x');
  const from = process.hrtime.bigint();
  const { errors } = await explainError(pieces(process.argv[2]), { snapshot: null });
  const seconds = Number(process.hrtime.bigint() - from) / 1e9;
  console.log(JSON.stringify({ seconds, peak, count: errors[0]?.count ?? 0 }));
`;

function search(path) {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code, DIST, path], {
    encoding: 'utf8',
  });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout);
}

const { bytes, path } = makeLog();
const runs = Array.from({ length: ROUNDS }, () => search(path));
const best = runs.reduce((a, b) => (a.seconds < b.seconds ? a : b));
console.log(`     ${(bytes / 1e6 / best.seconds).toFixed(0)} MB/s, ${best.count} messages`);
limit({ question: 'a log of 1 GB', value: best.seconds, unit: 's', atMost: bytes / 1e6 / GOAL_MB_PER_S });
limit({
  question: 'its anonymous memory, Node included',
  value: Math.max(...runs.map(({ peak }) => peak)),
  unit: 'MiB',
  atMost: 64,
});

// The whole process at the shell, as the kernel counts it, and what of that is Node.
const HOOK =
  'data:text/javascript,process.on("exit",()=>process.stderr.write("\\npeak " + process.resourceUsage().maxRSS / 1024))';
function peakOf(args) {
  const { stderr } = spawnSync(process.execPath, ['--import', HOOK, ...args], { encoding: 'utf8' });
  return Number(/peak ([\d.]+)$/.exec(stderr)?.[1]);
}
const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const peak = peakOf([CLI, 'explain', '--error', path, '--json']);
console.log(`     largest resident set of Node alone: ${peakOf(['-e', '0']).toFixed(0)} MiB`);
limit({ question: 'largest resident set of umaprobe explain --error', value: peak, unit: 'MiB', atMost: 64 });

// The same search by grep, for some of the messages.
const patterns = join(folder, 'patterns');
writeFileSync(
  patterns,
  [
    'out of memory',
    'Out of memory',
    'NV_ERR_NO_MEMORY',
    'less than desired GPU memory',
    'KV cache is needed',
    'invoked oom-killer',
    'more system memory',
    'dispatched on the CPU',
    'RESOURCE_EXHAUSTED',
    'failed to mlock',
  ].join('\n'),
);
const from = process.hrtime.bigint();
spawnSync('grep', ['-c', '-F', '-f', patterns, path], { env: { ...process.env, LC_ALL: 'C' } });
compare({
  question: 'a log of 1 GB',
  ours: best.seconds,
  theirs: Number(process.hrtime.bigint() - from) / 1e9,
  unit: 's',
  against: 'grep -F for ten of the messages',
});
