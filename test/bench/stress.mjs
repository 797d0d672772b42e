/**
 * Does stress() find what plain bisection finds, in no more CUDA time, and how does a loop of 5 GB tensors compare? All on
 * the same device in the same run. Where there is no GPU, what a step costs besides CUDA is measured on the simulated one.
 */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { snapshot, stress } from 'umaprobe';
import { activate, simulate } from 'umaprobe/sim';
import { quantile, results } from './measure.mjs';

const MiB = 2 ** 20;
const GB = 1e9;
const folder = mkdtempSync(join(tmpdir(), 'umaprobe-bench-stress-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const journal = join(folder, 'journal.jsonl');

function goal(words, held) {
  results.push({ held });
  console.log(`${held ? 'held  ' : 'MISSED'}  ${words}`);
}

const show = (bytes) => `${(bytes / GB).toFixed(3)} GB`;

/** Wall time from one step to the next, without what CUDA took of it and without the fsync, which is the disk's. */
async function overhead(options) {
  const times = [];
  let last = performance.now();
  await stress({
    ...options,
    onStep({ allocMs, touchMs }) {
      const now = performance.now();
      times.push(now - last - (allocMs ?? 0) - (touchMs ?? 0));
      last = now;
    },
  });
  return times.slice(1); // the first has the start of the process in it
}

const listed = spawnSync('nvidia-smi', ['-L'], { encoding: 'utf8' });
const real = listed.status === 0 && listed.stdout.includes('GPU 0');
if (!real) activate(simulate('h200'));

const free = await overhead({ journal: false });
const kept = await overhead({ journal });
const where = real ? 'on this GPU' : 'simulated';
goal(`a step besides CUDA: median ${quantile(free, 0.5).toFixed(2)} ms (${where}; goal 5)`, quantile(free, 0.5) <= 5);
console.log(`        with the journal, one fsync a step: median ${quantile(kept, 0.5).toFixed(2)} ms (${where})`);

if (!real) console.log('skipped: bisection and PyTorch need a real GPU; nvidia-smi lists none');
else {
  const nvcc = join(process.env.CUDA_HOME ?? '/usr/local/cuda', 'bin/nvcc');
  const program = join(folder, 'bisect');
  const source = new URL('plain/bisect.cu', import.meta.url).pathname;
  const built = spawnSync(nvcc, ['-O2', '-o', program, source], { encoding: 'utf8' });
  if (built.status !== 0) throw new Error(`nvcc: ${built.error?.message ?? built.stderr}`);
  const lines = spawnSync(program, { encoding: 'utf8' }).stdout.trim().split('\n');
  const plain = Object.fromEntries(lines.map((line) => [line.split(' ')[0], line.split(' ').slice(1).map(Number)]));
  for (const [name, single] of [
    ['total', false],
    ['single', true],
  ]) {
    const [bytes, ms] = plain[name];
    const found = await stress({ journal, single });
    goal(
      `${name}: ${show(found.maxBytes)}, bisection ${show(bytes)} (goal: within 64 MiB)`,
      Math.abs(found.maxBytes - bytes) <= 64 * MiB,
    );
    goal(
      `${name}: ${found.cudaMs.toFixed(1)} ms in CUDA, bisection ${ms.toFixed(1)} ms (goal: no more)`,
      found.cudaMs <= ms,
    );
    if (!single) await compareTorch(found);
  }
}

async function compareTorch(found) {
  const script = new URL('plain/five_gb_steps.py', import.meta.url).pathname;
  const torch = spawnSync(process.env.PYTHON ?? 'python3', [script], { encoding: 'utf8' });
  if (torch.status !== 0) {
    console.log(`skipped: PyTorch (${(torch.error?.message ?? torch.stderr).trim().split('\n').at(-1)})`);
    return;
  }
  const [bytes, ms] = torch.stdout.trim().split(' ').map(Number);
  goal(`PyTorch in 5 GB steps: ${show(bytes)}; stress is closer to the edge`, found.maxBytes > bytes);
  goal(`PyTorch in 5 GB steps: ${ms.toFixed(1)} ms; stress ${found.cudaMs.toFixed(1)} ms in CUDA`, found.cudaMs <= ms);
}

console.log(`device: ${(await snapshot()).devices[0]?.name ?? 'none'}${real ? '' : ' (simulated)'}`);
