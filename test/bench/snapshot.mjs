/** What does one full snapshot() cost, compared with one nvidia-smi query? */

import { spawnSync } from 'node:child_process';
import { snapshot } from 'umaprobe';
import { compare, limit, quantile, skip, timeAsync } from './measure.mjs';

await timeAsync(() => snapshot(), 500);
const taken = await timeAsync(() => snapshot(), 5_000);
const p50 = quantile(taken, 0.5) / 1e3;
const { devices } = await snapshot();
console.log(
  `     snapshot(): p50 ${p50.toFixed(0)} µs, p90 ${(quantile(taken, 0.9) / 1e3).toFixed(0)} µs, ${devices.length} device(s)`,
);
limit({ question: `snapshot() p50, warm, ${devices.length} device(s)`, value: p50, unit: 'µs', atMost: 150 });

const query = [
  '--query-gpu=name,memory.total,memory.used,utilization.gpu,temperature.gpu,power.draw',
  '--format=csv,noheader',
];
if (spawnSync('nvidia-smi', query).status !== 0) skip('snapshot()', 'no nvidia-smi that works here');
else {
  const peer = [];
  for (let at = 0; at < 20; at++) {
    const from = process.hrtime.bigint();
    spawnSync('nvidia-smi', query);
    peer.push(Number(process.hrtime.bigint() - from));
  }
  compare({
    question: 'snapshot()',
    ours: p50,
    theirs: quantile(peer, 0.5) / 1e3,
    unit: 'µs',
    against: 'one nvidia-smi query',
    atLeast: 100,
  });
}
