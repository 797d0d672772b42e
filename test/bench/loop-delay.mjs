/**
 * How long do the calls on the page cache block the event loop? In a process of its own, with nothing else in the loop:
 * `node loop-delay.mjs <tree>`, a tree of files on a disk that this user may read; prints JSON.
 */
import { execFileSync } from 'node:child_process';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheStatus, dropCaches, evictFiles, prepare, snapshot } from '../../dist/index.js';
import { quantile } from './measure.mjs';

const ROUNDS = 7;
const [tree] = process.argv.slice(2);
const delay = monitorEventLoopDelay({ resolution: 1 });
const read = () => execFileSync('grep', ['-rc', '', tree], { stdio: 'ignore' });

/** Longest delay of each round. A delay includes the 1 ms of its own tick, which is subtracted. */
async function longest(call, before = () => {}) {
  const all = [];
  for (let round = 0; round < ROUNDS; round++) {
    before();
    await sleep(20);
    delay.enable();
    delay.reset();
    await call();
    await sleep(5);
    delay.disable();
    all.push(delay.max / 1e6 - 1);
  }
  return { least: Math.min(...all), median: quantile(all, 0.5), most: Math.max(...all) };
}

/** A request above the free memory, which requires eviction, and below the free memory plus the files. */
async function request() {
  const { host } = await snapshot();
  return { bytes: Math.min(host.free, host.available) + 100e6, paths: [tree], floorBytes: 0 };
}

// The first call of each loads its modules.
await cacheStatus([tree]);
await evictFiles([tree], { top: 1 });
await prepare({ ...(await request()), dryRun: true });
read();
const measured = { idle: await longest(() => sleep(500)) };
measured['cacheStatus()'] = await longest(() => cacheStatus([tree]));
measured['prepare(), to its plan'] = await longest(async () => prepare({ ...(await request()), dryRun: true }));
measured['evictFiles()'] = await longest(() => evictFiles([tree]), read);
read();
measured['prepare()'] = await longest(async () => prepare(await request()), read);
const dropped = await dropCaches({ level: 1 }).catch((error) => error);
if (dropped instanceof Error) measured.notDropped = dropped.message;
else measured['dropCaches()'] = await longest(() => dropCaches({ level: 1 }));
console.log(JSON.stringify(measured));
