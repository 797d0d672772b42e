/** What do one full snapshot() and memory() cost, compared with a plain C program that reads the same, and with one nvidia-smi query? */

import { spawnSync } from 'node:child_process';
import { memory, memorySync, snapshot } from 'umaprobe';
import { compare, compile, hasGpu, limit, quantile, run, skip, timeAsync } from './measure.mjs';

await timeAsync(() => snapshot(), 500);
const taken = await timeAsync(() => snapshot(), 5_000);
const p50 = quantile(taken, 0.5) / 1e3;
const { devices } = await snapshot();
console.log(
  `     snapshot(): p50 ${p50.toFixed(0)} µs, p90 ${(quantile(taken, 0.9) / 1e3).toFixed(0)} µs, ${devices.length} device(s)`,
);
limit({ question: `snapshot() p50, warm, ${devices.length} device(s)`, value: p50, unit: 'µs', atMost: 200 });

for (const [name, call] of Object.entries({ memory, memorySync })) {
  await timeAsync(call, 100);
  const value = quantile(await timeAsync(call, 3_000), 0.5) / 1e3;
  limit({ question: `${name}() p50, warm, ${devices.length} device(s)`, value, unit: 'µs', atMost: 1_000 });
}

if (!hasGpu()) skip('snapshot()', 'the plain program needs a GPU');
else {
  // Alternately, so that a slow second of the machine affects both.
  const program = compile('snapshot.c', ['-ldl']);
  const ours = [];
  const plain = [];
  for (let round = 0; round < 7; round++) {
    ours.push(quantile(await timeAsync(() => snapshot(), 3_000), 0.5));
    plain.push(Number(run(program, ['loop', '3000']).split(' ')[0]));
  }
  compare({
    question: 'snapshot()',
    ours: quantile(ours, 0.5) / 1e3,
    theirs: quantile(plain, 0.5) / 1e3,
    unit: 'µs',
    against: 'C: the same calls and files',
    atMost: 4,
  });
}

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
