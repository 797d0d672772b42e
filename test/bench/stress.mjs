/**
 * Does stress() find the maximum of a plain bisection, in no more CUDA time, and how does a loop of 5 GB tensors compare? All
 * on the same device in the same run. Without a GPU only the time of a step outside CUDA is measured, on a simulated one.
 */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { snapshot, stress } from 'umaprobe';
import { activate, simulate } from 'umaprobe/sim';
import { compare, compile, hasGpu, limit, NVCC, plainPath, quantile, run, skip, temporaryFolder } from './measure.mjs';

const MiB = 2 ** 20;
const journal = join(temporaryFolder(), 'journal.jsonl');

/** Wall times of the steps outside CUDA. */
async function overhead(options) {
  const times = [];
  let last = performance.now();
  await stress({
    ...options,
    onEvent({ type, step }) {
      if (type !== 'step') return;
      const { allocMs, touchMs } = step;
      const now = performance.now();
      times.push(now - last - (allocMs ?? 0) - (touchMs ?? 0));
      last = now;
    },
  });
  return times.slice(1); // the first includes the start of the process
}

const real = hasGpu();
if (!real) activate(simulate('h200'));

const where = real ? 'on this GPU' : 'simulated';
const withoutJournal = quantile(await overhead({ journal: false }), 0.5);
const withJournal = quantile(await overhead({ journal }), 0.5);
limit({ question: `median time of a step outside CUDA (${where})`, value: withoutJournal, unit: 'ms', atMost: 5 });
console.log(`     with the journal, one fsync per step: ${withJournal.toFixed(2)} ms (${where})`);

if (!real) skip('bisection and PyTorch', 'nvidia-smi lists no GPU');
else {
  const lines = run(compile('bisect.cu', [], { compiler: NVCC })).split('\n');
  const plain = Object.fromEntries(lines.map((line) => [line.split(' ')[0], line.split(' ').slice(1).map(Number)]));
  for (const [name, single] of [
    ['total', false],
    ['single', true],
  ]) {
    const [bytes, ms] = plain[name];
    const found = await stress({ journal, single });
    const difference = Math.abs(found.maxBytes - bytes) / MiB;
    limit({ question: `${name}: difference from bisection`, value: difference, unit: 'MiB', atMost: 64 });
    const times = { ours: found.cudaMs, theirs: ms, unit: 'ms' };
    compare({ question: `${name}: time in CUDA`, ...times, against: 'bisection', atMost: 1 });
    if (!single) await compareTorch(found);
  }
}

async function compareTorch(found) {
  const torch = spawnSync(process.env.PYTHON ?? 'python3', [plainPath('five_gb_steps.py')], { encoding: 'utf8' });
  if (torch.status !== 0) {
    skip('PyTorch', (torch.error?.message ?? torch.stderr).trim().split('\n').at(-1));
    return;
  }
  const [bytes, ms] = torch.stdout.trim().split(' ').map(Number);
  const against = 'PyTorch in 5 GB steps';
  limit({ question: `total of ${against}`, value: (100 * bytes) / found.maxBytes, unit: '% of stress()', atMost: 100 });
  compare({ question: 'time in CUDA', ours: found.cudaMs, theirs: ms, unit: 'ms', against, atMost: 1 });
}

console.log(`device: ${(await snapshot()).devices[0]?.name ?? 'none'}${real ? '' : ' (simulated)'}`);
