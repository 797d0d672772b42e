// Our side of bench alloc, in a process of its own: the same as alloc.cu with the addon's allocator. Prints for each repeat
// of each size: bytes, and milliseconds of alloc, first touch, second touch, verify, free, and of the step that is not CUDA's.
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const binding = require(require('node-gyp-build').path(fileURLToPath(new URL('../../..', import.meta.url))));
const LIMIT_MS = 120_000;

function must(answer) {
  if (answer?.failed) throw new Error(`${answer.call}: ${answer.name} ${answer.message}`);
  return answer;
}

must(await binding.allocOpen(0, LIMIT_MS));
const [repeats, ...sizes] = process.argv.slice(2).map(Number);
for (const bytes of sizes) {
  for (let repeat = 0; repeat < repeats; repeat++) {
    await sleep(5 + (bytes / 1e9) * 10); // as alloc.cu, which says why
    const start = performance.now();
    const { block, durationMs: alloc } = must(await binding.allocBlock('device', bytes, LIMIT_MS));
    const { durationMs: first } = must(await binding.touchBlock(block, 1, LIMIT_MS));
    const { durationMs: second } = must(await binding.touchBlock(block, 2, LIMIT_MS));
    const { durationMs: verify, mismatches } = must(await binding.verifyBlock(block, 2, LIMIT_MS));
    if (mismatches !== 0) throw new Error(`${mismatches} bytes were wrong`);
    const { durationMs: free } = must(await binding.freeBlock(block, LIMIT_MS));
    const rest = performance.now() - start - alloc - first - second - verify - free;
    console.log([bytes, alloc, first, second, verify, free, rest].join(' '));
  }
}
