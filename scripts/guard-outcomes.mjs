// Results of three watchdogs on the series of test/fixtures/field: umaprobe's guard, earlyoom, a rule on MemFree alone.
// docs/guard-outcomes.md has the table.
//
//   node scripts/bootstrap.mjs && node scripts/guard-outcomes.mjs            writes the table, about a minute
//
// The guard judges a series in virtual time (umaprobe-guard --replay). earlyoom is the program of the distribution: it runs
// in --dryrun on a simulated machine whose /proc/meminfo follows the series. If it is missing, its column stays as it is.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadLib } from './load-lib.mjs';
import { isMain, main, root } from './run.mjs';

const GiB = 2 ** 30;
/** MemTotal of the simulated GB10. */
export const TOTAL = 128_518_619_136;
/** Pace of guard(). */
export const PACE = { intervalMs: 10, graceMs: 5000 };
const FOLDER = join(root, 'test/fixtures/field');
const PAGE = join(root, 'docs/guard-outcomes.md');
/** Real seconds in which earlyoom sees a series, at most: it reads /proc/meminfo up to ten times a second. */
const EARLYOOM_SECONDS = 40;

/** @returns every series, those that froze a machine first. */
export function fieldSeries() {
  return readdirSync(FOLDER)
    .map((file) => JSON.parse(readFileSync(join(FOLDER, file), 'utf8')))
    .sort((a, b) => a.order - b.order);
}

export const duration = ({ points }) => points.at(-1)[0];

/** The values of a series at a time: a line between two points. */
export function valuesAt({ points }, seconds) {
  const after = points.findIndex(([at]) => at > seconds);
  if (after === -1) return points.at(-1);
  if (after === 0) return points[0];
  const [from, to] = [points[after - 1], points[after]];
  const share = (seconds - from[0]) / (to[0] - from[0]);
  return from.map((value, index) => value + (to[index] - value) * share);
}

/** A series as readings of the guard, one each 10 ms. */
export function readings(series) {
  const lines = [];
  const swapTotal = (series.swapTotal ?? 0) * GiB;
  for (let tick = 0; tick <= duration(series) * 100; tick++) {
    const [, available, free, pressureFull, freeBlocks, swapFree] = valuesAt(series, tick / 100);
    lines.push({
      t: tick / 100,
      available: Math.round(available * GiB),
      free: Math.round(free * GiB),
      pressureFull: Number(pressureFull.toFixed(2)),
      freeBlocks: Math.round(freeBlocks * GiB),
      swapFree: Math.round(Math.min(swapFree * GiB, swapTotal)),
      swapTotal,
    });
  }
  return lines;
}

/** The watchdog of MiaAI Qwen3.8-Single PR 54: MemFree below 2 GiB in five readings, one a second. */
export function memFreeRule(series) {
  let low = 0;
  for (let second = 0; second <= duration(series); second++) {
    low = valuesAt(series, second)[2] < 2 ? low + 1 : 0;
    if (low === 5) return { action: 'kill', atSeconds: second };
  }
  return null;
}

/** First SIGTERM or SIGKILL of the guard with `thresholds`, as its arguments; null: none. */
export function guardRule(series, program, thresholds) {
  const folder = mkdtempSync(join(tmpdir(), 'umaprobe-field-'));
  try {
    const file = join(folder, 'series.jsonl');
    writeFileSync(
      file,
      `${readings(series)
        .map((reading) => JSON.stringify(reading))
        .join('\n')}\n`,
    );
    const args = [...thresholds, `--replay=${file}`];
    const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
    if (status !== 0) throw new Error(`${program}: ${stderr || `exit code ${status}`}`);
    return firstAction(stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function firstAction(report) {
  const actions = report
    .split('\n')
    .filter((line) => line.startsWith('{"event":"action"'))
    .map((line) => JSON.parse(line))
    .filter(({ action }) => action === 'term' || action === 'kill');
  const [first] = actions;
  return first === undefined ? null : { action: first.action, reason: first.reason, atSeconds: Number(first.at) };
}

/** The simulated machine whose /proc/meminfo and pressure follow the series. `swap`: GiB in place of the series' own. */
export function machineOf(series, base, swap = null) {
  const memory = { ...base.memory, total: TOTAL };
  const step = Math.max(memory.minFree / 4, Math.floor(TOTAL / 10_000) * memory.watermarkScaleFactor);
  const [low, high] = [memory.minFree + step, memory.minFree + 2 * step];
  const slab = memory.slabReclaimable - Math.min(memory.slabReclaimable / 2, low);
  const fixed =
    memory.shmem +
    memory.slabReclaimable +
    memory.slabUnreclaimable +
    memory.kernelStack +
    memory.pageTables +
    memory.percpu +
    memory.driverHeld;
  const swapTotal = Math.round((swap ?? series.swapTotal ?? 0) * GiB);
  const swapUsed =
    swap === null ? swapTotal - Math.round(Math.min(...series.points.map((point) => point[5])) * GiB) : 0;
  const boot = { anon: 2 ** 28, fileCache: 2 ** 27, buffers: 0, fileMapped: 2 ** 25, fileDirty: 0, mlocked: 0 };
  // The inverse of available_bytes() in native/sim/linux/memory.cc.
  const cacheOf = (available, free) => Math.max((available - free) * GiB + high + low - slab, boot.fileCache);
  const at = (values) => {
    const [seconds, available, free] = values;
    const fileCache = cacheOf(available, free);
    return { afterMs: seconds * 1000, fileCache, anon: TOTAL - free * GiB - fileCache - fixed };
  };
  const points = series.points.map(at);
  const curve = (key) =>
    points.map(({ afterMs, ...values }) => ({ afterMs, bytes: Math.round(Math.max(values[key] - boot[key], 0)) }));
  return {
    schema: 'umaprobe/machine/1',
    name: series.name,
    description: series.title,
    extends: 'gb10',
    memory: {
      ...boot,
      total: TOTAL,
      swapTotal: Math.max(swapTotal, 0),
      swapUsed: Math.max(swapUsed, 0),
      swappiness: 0,
    },
    events: [
      { atMs: 0, what: 'fileCache', points: atBoot(curve('fileCache')) },
      { atMs: 0, what: 'anon', points: atBoot(curve('anon')) },
      { atMs: 0, what: 'pressure', points: pressureShares(series) },
    ],
  };
}

/** A curve begins at 0: here it begins with a step. */
const atBoot = (points) => [{ ...points[0], afterMs: 0 }, ...points];

/** Shares of time whose mean over 10 s follows the series. */
function pressureShares({ points }) {
  return points.flatMap(([seconds, , , now], index) => {
    const [at, , , next] = points[index + 1] ?? [seconds + 1, 0, 0, now];
    const slope = at > seconds ? (next - now) / (at - seconds) : 0;
    const share = (percent) => Math.min(Math.max(percent + 10 * slope, 0), 100);
    return [
      { afterMs: seconds * 1000, percent: share(now) },
      { afterMs: at * 1000, percent: share(next) },
    ];
  });
}

export function earlyoomVersion() {
  const { status, stdout, stderr } = spawnSync('earlyoom', ['-v'], { encoding: 'utf8' });
  return status === 0 ? (/v?(\d[\w.]+)/.exec(`${stdout}${stderr}`)?.[1] ?? null) : null;
}

/** Boots the machine of a series, whose time passes `scale` times as fast. The caller closes it. */
export async function boot(series, { scale, swap = null }) {
  const { loadMachine, simulate } = await import(pathToFileURL(join(root, 'dist/sim.js')).href);
  const folder = mkdtempSync(join(tmpdir(), 'umaprobe-field-'));
  try {
    const file = join(folder, `${series.name}.json`);
    writeFileSync(file, JSON.stringify(machineOf(series, loadMachine('gb10'), swap)));
    return simulate(loadMachine(file), { scale });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** First step of earlyoom, with its defaults (10 % of memory and 10 % of swap; SIGKILL at 5 %); null: nothing. */
export async function earlyoomRule(series, swap = null) {
  const scale = Math.max(1, duration(series) / EARLYOOM_SECONDS);
  const simulation = await boot(series, { scale, swap });
  const began = performance.now();
  // --dryrun: it kills nothing of this computer, whose processes it would choose from.
  const child = spawn('earlyoom', ['--dryrun', '-r', '0'], {
    env: { ...process.env, ...simulation.foreignEnv() },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [seen, first] = ['', null];
  const read = (chunk) => {
    seen += chunk;
    const signal = /at or below SIG(TERM|KILL) limits/.exec(seen)?.[1];
    if (signal === undefined || first !== null) return;
    first = { action: signal.toLowerCase(), atSeconds: ((performance.now() - began) / 1000) * scale };
    child.kill();
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const limit = setTimeout(() => child.kill(), (duration(series) / scale) * 1000);
  await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  clearTimeout(limit);
  simulation.close();
  if (!seen.includes('earlyoom')) throw new Error(`earlyoom did not start: ${seen}`);
  return first;
}

/** "stops it after 12.4 s", and whether that is right. */
export function outcome({ truth, frozenAtSeconds }, acted) {
  if (acted === null) return truth === 'healthy' ? 'leaves it alone' : '**misses it**';
  const when = acted.atSeconds < 100 ? `${acted.atSeconds.toFixed(1)} s` : `${Math.round(acted.atSeconds)} s`;
  const how = `${acted.action === 'term' ? 'SIGTERM' : 'SIGKILL'} after ${when}`;
  if (truth === 'healthy') return `**kills it**: ${how}`;
  if (acted.atSeconds < frozenAtSeconds) return how;
  return `**late**: ${how}`;
}

/** Rows of the table; `guardOf(series)` and the others give what each watchdog did. */
export async function tableRows(all, watchdogs) {
  return Promise.all(
    all.map(async (series) => {
      const cells = await Promise.all(watchdogs.map(async (watchdog) => watchdog(series)));
      const what = series.truth === 'healthy' ? 'healthy' : `frozen after ${series.frozenAtSeconds} s`;
      return `| ${[`${series.title}`, what, ...cells].join(' | ')} |`;
    }),
  );
}

/** earlyoom's cell: where the source says nothing of swap, without swap and with 16 GiB of it free. */
export async function earlyoomCell(series) {
  if (series.swapTotal !== null) return outcome(series, await earlyoomRule(series));
  const [without, free] = await Promise.all([earlyoomRule(series, 0), earlyoomRule(series, 16)]);
  const [bare, roomy] = [outcome(series, without), outcome(series, free)];
  return bare === roomy ? bare : `no swap: ${bare}; swap free: ${roomy}`;
}

const BEGIN = '<!-- table: node scripts/guard-outcomes.mjs -->';
const END = '<!-- end of the table -->';

export function tableOf(page) {
  return page
    .slice(page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END))
    .trim()
    .split('\n');
}

if (isMain(import.meta.url)) {
  await main(async () => {
    // Each machine removes its files at the exit.
    process.setMaxListeners(50);
    const page = readFileSync(PAGE, 'utf8');
    const all = fieldSeries();
    const before = new Map(tableOf(page).map((row) => [row.split(' | ')[0]?.slice(2), row.split(' | ')[3]]));
    const hasEarlyoom = earlyoomVersion() !== null;
    if (!hasEarlyoom) console.error('earlyoom is not installed: its column stays as it is');
    const { guardThresholds } = await loadLib('lib/core/memory/guard-rules.ts');
    const { guardArguments } = await loadLib('lib/run/guard/protocol.ts');
    const thresholds = guardArguments(guardThresholds(TOTAL), PACE);
    const rows = await tableRows(all, [
      (series) => outcome(series, guardRule(series, join(root, 'build/Release/umaprobe-guard'), thresholds)),
      (series) => (hasEarlyoom ? earlyoomCell(series) : (before.get(series.title) ?? 'not run')),
      (series) => outcome(series, memFreeRule(series)),
    ]);
    const table = [
      '| Series | What happened | umaprobe guard | earlyoom 1.7 | MemFree < 2 GiB for 5 s |',
      '|---|---|---|---|---|',
      ...rows,
    ];
    const [head, tail] = [page.slice(0, page.indexOf(BEGIN) + BEGIN.length), page.slice(page.indexOf(END))];
    writeFileSync(PAGE, `${head}\n${table.join('\n')}\n${tail}`);
  });
}
