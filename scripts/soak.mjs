// npm run soak -- [--minutes N] [--rest SECONDS] [--log FILE] [--plant descriptor|thread|memory|handle]: does mixed use
// for minutes or hours leave anything behind? Two processes (test/soak/subject.mjs) use the library, one on a simulated
// machine, one on the real kernel. Each is sampled at rest after each round; a line through the samples must be flat.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { bootstrap } from './bootstrap.mjs';
import { main, root } from './run.mjs';

const KiB = 1024;
const MiB = 1024 * KiB;

/** Share of the time that does not count: code is compiled, pools and arenas fill. */
const WARM_UP = 1 / 4;

/** A slow machine compiles and fills its pools for longer than WARM_UP: what grows there gets as much time again. A leak goes on. */
const ROUNDS = 3;

/**
 * Limits of growth by the fitted line: once, and for each minute. A count at rest is the same after each round, so half
 * of one is already a leak that repeats. RSS creeps until malloc's arenas have their size and V8 has compiled what it
 * will; 1 KiB of native memory per snapshot would be 10 MiB a minute. The heap after a collection grows by code alone,
 * as heap snapshots show.
 */
const LIMITS = {
  rssBytes: { once: 5 * MiB, perMinute: 0.1 * MiB, unit: MiB, name: 'RSS, MiB' },
  heapBytes: { once: 1.5 * MiB, perMinute: 0.05 * MiB, unit: MiB, name: 'heap, MiB' },
  externalBytes: { once: 256 * KiB, perMinute: 0, unit: MiB, name: 'external, MiB' },
  descriptors: { once: 0.5, perMinute: 0, unit: 1, name: 'descriptors' },
  threads: { once: 0.5, perMinute: 0, unit: 1, name: 'threads' },
  handles: { once: 0.5, perMinute: 0, unit: 1, name: 'active handles' },
  machineFiles: { once: 0.5, perMinute: 0, unit: 1, name: 'simulated files' },
  children: { once: 0.5, perMinute: 0, unit: 1, name: 'children' },
};

/** Growth of the least squares line from its first to its last sample. */
export function growth(points) {
  const count = points.length;
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / count;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / count;
  const above = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  const below = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return below === 0 ? 0 : (above / below) * (points[count - 1][0] - points[0][0]);
}

/** A running subject: its samples so far, each with the time at which it came, and its end. */
function start(kind, { plant, rest, log }) {
  const subject = join(root, 'test', 'soak', 'subject.mjs');
  // The young generation keeps its size: it grows in steps of up to 16 MiB, which would hide a leak.
  const flags = ['--expose-gc', '--max-semi-space-size=1'];
  const child = spawn(process.execPath, [...flags, subject, kind, rest, ...(plant ? [plant] : [])], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const samples = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    samples.push({ at: performance.now(), ...JSON.parse(line) });
    if (log) appendFileSync(log, `{"kind":"${kind}",${line.slice(1)}\n`);
  });
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`the process on the ${kind} machine ended with ${signal ?? `exit code ${code}`}`));
    });
  });
  const end = () => {
    child.stdin.end('end\n');
    return ended;
  };
  return { kind, samples, ended, end };
}

/** The lines of the table of one subject, and the names of what grew. */
function judge({ kind, samples }, ms) {
  const last = samples.at(-1).at;
  const from = Math.max(last - ms, samples[0].at) + ms * WARM_UP;
  const counted = samples.filter(({ at }) => at >= from);
  if (counted.length < 8)
    throw new Error(`${kind}: ${counted.length} rounds after the warm-up; give it more --minutes`);
  const grew = [];
  const rows = Object.entries(LIMITS).map(([key, { once, perMinute, unit, name }]) => {
    const most = once + (perMinute * (counted.at(-1).at - counted[0].at)) / 60_000;
    const value = growth(counted.map((sample) => [sample.at, sample[key]]));
    const flat = value <= most;
    if (!flat) grew.push(`${name} (${kind})`);
    const at = (sample) => (sample[key] / unit).toFixed(unit === 1 ? 0 : 1);
    const cells = [at(counted[0]), at(counted.at(-1)), (value / unit).toFixed(2), (most / unit).toFixed(2)];
    return `${kind.padEnd(10)} ${name.padEnd(16)} ${cells.map((cell) => cell.padStart(9)).join(' ')}  ${flat ? 'flat' : 'GREW'}`;
  });
  const seconds = ((counted.at(-1).at - counted[0].at) / 1000).toFixed(0);
  const errors = Object.entries(counted.at(-1).errors).map(([code, count]) => `${count} ${code}`);
  rows.push(
    `${kind.padEnd(10)} ${counted.length} of ${samples.length} rounds in ${seconds} s; errors on purpose: ${errors.join(', ')}`,
  );
  return { rows, grew };
}

await main(async () => {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '1.2' },
      rest: { type: 'string', default: '0' },
      log: { type: 'string' },
      plant: { type: 'string' },
    },
  });
  const minutes = Number(values.minutes);
  if (!(minutes >= 1 && minutes <= 24 * 60)) throw new Error(`--minutes is "${values.minutes}"; expected 1 to 1440`);
  await bootstrap();
  const ms = minutes * 60_000;
  const subjects = ['simulated', 'real'].map((kind) => start(kind, values));
  try {
    for (let round = 1; ; round++) {
      await Promise.race([sleep(ms), ...subjects.map(({ ended }) => ended)]);
      const judged = subjects.map((subject) => judge(subject, ms));
      const head = ['first', 'last', 'growth', 'limit'].map((word) => word.padStart(9)).join(' ');
      console.log(`${'machine'.padEnd(10)} ${'what'.padEnd(16)} ${head}`);
      for (const { rows } of judged) console.log(rows.join('\n'));
      const grew = judged.flatMap((each) => each.grew);
      if (grew.length === 0) break;
      if (round === ROUNDS) throw new Error(`not flat: ${grew.join(', ')}`);
      console.log(`not flat yet: ${grew.join(', ')}; once more as long`);
    }
  } finally {
    await Promise.all(subjects.map(({ end }) => end()));
  }
});
