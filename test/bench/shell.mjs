/** How long does `umaprobe` take at the shell, from start to exit, compared with a plain C program that reads the same? */

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { snapshot } from 'umaprobe';
import { compare, compile, hasGpu, limit, quantile, skip } from './measure.mjs';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const ROUNDS = 9;

/** Milliseconds from start to exit. */
function timeOf(file, args) {
  const from = process.hrtime.bigint();
  const { status } = spawnSync(file, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error(`${file} ${args.join(' ')} exited with ${status}`);
  return Number(process.hrtime.bigint() - from) / 1e6;
}

/** Medians of commands that alternate, so that a slow second of the machine affects all. */
function medians(commands) {
  const times = commands.map(() => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, [file, ...args]] of commands.entries()) times[at].push(timeOf(file, args));
  }
  return times.map((list) => quantile(list, 0.5));
}

const node = [process.execPath, '-e', '0'];
const { devices } = await snapshot();
const unified = devices.some(({ memoryModel }) => memoryModel === 'unified');
if (hasGpu() && !unified) {
  const [bare, ours, plain] = medians([node, [process.execPath, CLI], [compile('snapshot.c', ['-ldl']), 'once']]);
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
const [bare, ours] = medians([node, [process.execPath, CLI, '--memgetinfo', 'never']]);
console.log(`     Node alone: ${bare.toFixed(0)} ms`);
if (hasGpu() && !unified)
  skip(
    'umaprobe at the shell, without a context',
    'CUDA alone takes 0.1 s to initialize on a GPU with memory of its own',
  );
else limit({ question: 'umaprobe at the shell, without a context', value: ours, unit: 'ms', atMost: 150 });
