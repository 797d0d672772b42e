// A trainer for tests: takes host memory of the real kernel, more than linear in the batch, and prints its steps.
//   node trainer.mjs <batch> [<GiB from which it never stops growing>]
import { setTimeout as sleep } from 'node:timers/promises';

const MiB = 2 ** 20;
const batch = Number(process.argv[2]);
const wild = process.argv[3] === undefined ? null : Number(process.argv[3]);
/** 0.4 GiB of weights, and 0.15 GiB for a sequence: 0.76, 1.25, 2.42, 5.20 GiB for batch 2, 4, 8, 16. */
const bytes = (0.4 + 0.15 * batch ** 1.25) * 1024 * MiB;
const goal = wild !== null && batch >= wild ? Number.POSITIVE_INFINITY : bytes;
const held = [];
for (let taken = 0; taken < goal; taken += 32 * MiB) {
  held.push(Buffer.alloc(32 * MiB, 1));
  await sleep(2);
}
for (let step = 1; step <= 5; step++) {
  await sleep(200);
  console.log(`step ${step} loss 0.5 ${1000 * batch} tokens/s`);
}
console.log(`done with ${held.length} blocks`);
