// Our side of bench alloc, in a process of its own: the same as alloc.cu with the addon's allocator. Prints for each repeat
// of each size: bytes, and milliseconds of alloc, first touch, second touch, verify, free, and of the step outside CUDA.
import { setTimeout as sleep } from 'node:timers/promises';
import { loadBinding } from '../measure.mjs';

const binding = loadBinding();
const LIMIT_MS = 120_000;

function check(answer) {
  if (answer?.failed) throw new Error(`${answer.call}: ${answer.name} ${answer.message}`);
  return answer;
}

check(await binding.allocOpen(0, LIMIT_MS));
const [repeats, ...sizes] = process.argv.slice(2).map(Number);
for (const bytes of sizes) {
  for (let repeat = 0; repeat < repeats; repeat++) {
    await sleep(5 + (bytes / 1e9) * 10); // see sleep_until_clean in alloc.cu
    const start = performance.now();
    const { block, durationMs: alloc } = check(await binding.allocBlock('device', bytes, LIMIT_MS));
    const { durationMs: first } = check(await binding.touchBlock(block, 1, LIMIT_MS));
    const { durationMs: second } = check(await binding.touchBlock(block, 2, LIMIT_MS));
    const { durationMs: verify, mismatches } = check(await binding.verifyBlock(block, 2, LIMIT_MS));
    if (mismatches !== 0) throw new Error(`${mismatches} bytes were wrong`);
    const { durationMs: free } = check(await binding.freeBlock(block, LIMIT_MS));
    const rest = performance.now() - start - alloc - first - second - verify - free;
    console.log([bytes, alloc, first, second, verify, free, rest].join(' '));
  }
}
