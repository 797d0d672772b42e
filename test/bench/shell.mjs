/** How long does `umaprobe` take at the shell, from start to exit, compared with a plain C program that reads the same? */

import { fileURLToPath } from 'node:url';
import { snapshot } from 'umaprobe';
import { alternating, compare, compile, hasGpu, limit, skip } from './measure.mjs';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const node = [process.execPath, '-e', '0'];
const { devices } = await snapshot();
const unified = devices.some(({ memoryModel }) => memoryModel === 'unified');
if (hasGpu() && !unified) {
  const [bare, ours, plain] = alternating([node, [process.execPath, CLI], [compile('snapshot.c', ['-ldl']), 'once']]);
  console.log(`     Node alone: ${bare.toFixed(0)} ms`);
  compare({
    question: 'umaprobe at the shell, with one context',
    ours,
    theirs: plain,
    unit: 'ms',
    against: 'C: one context, the same calls and files',
    atMost: 1.2,
  });
} else {
  skip('umaprobe at the shell, with one context', 'no GPU with memory of its own');
}
const [bare, ours] = alternating([node, [process.execPath, CLI, '--memgetinfo', 'never']]);
console.log(`     Node alone: ${bare.toFixed(0)} ms`);
if (hasGpu() && !unified)
  skip(
    'umaprobe at the shell, without a context',
    'CUDA alone takes 0.1 s to initialize on a GPU with memory of its own',
  );
else limit({ question: 'umaprobe at the shell, without a context', value: ours, unit: 'ms', atMost: 150 });
