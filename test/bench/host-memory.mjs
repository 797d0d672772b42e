/** How fast is hostMemorySync(), compared with a C loop of pread + parse, and with systeminformation? */

import si from 'systeminformation';
import { hostMemorySync } from 'umaprobe';
import { compare, compile, quantile, run, timeAsync, timeSync } from './measure.mjs';

const program = compile('meminfo.c');
timeSync(hostMemorySync, 20_000);
// Alternately, so that a slow second of the machine affects both.
const ours = [];
const plain = [];
for (let round = 0; round < 7; round++) {
  ours.push(quantile(timeSync(hostMemorySync, 20_000), 0.5));
  plain.push(Number(run(program, ['20000']).split(' ')[0]));
}
compare({
  question: 'hostMemorySync()',
  ours: quantile(ours, 0.5) / 1e3,
  theirs: quantile(plain, 0.5) / 1e3,
  unit: 'µs',
  against: 'C: pread + parse',
  atMost: 2,
});

await timeAsync(() => si.mem(), 50);
const peer = quantile(await timeAsync(() => si.mem(), 500), 0.5);
compare({
  question: 'hostMemorySync()',
  ours: quantile(ours, 0.5) / 1e3,
  theirs: peer / 1e3,
  unit: 'µs',
  against: 'systeminformation mem()',
  atLeast: 20,
});
