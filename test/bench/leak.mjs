/** Does a million snapshots grow the process? RSS after a warm-up against RSS at the end. */

import { readFileSync } from 'node:fs';
import { snapshot } from 'umaprobe';
import { limit } from './measure.mjs';

const count = Number(process.env.UMAPROBE_BENCH_SNAPSHOTS ?? 1_000_000);
const rss = () => {
  globalThis.gc?.();
  const status = readFileSync('/proc/self/status', 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
};
const take = async (times) => {
  for (let at = 0; at < times; at++) await snapshot({ memGetInfo: 'never' });
};
// The heap settles within the first snapshots; only later growth counts.
await take(Math.max(1000, count / 10));
const before = rss();
await take(count);
const after = rss();
limit({ question: `RSS growth over ${count} snapshots`, value: (after - before) / 1e6, unit: 'MB', atMost: 1 });
