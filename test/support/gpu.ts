/** Is there a real GPU here, and a compiler for the plain programs? */

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const listed = spawnSync('nvidia-smi', ['-L'], { encoding: 'utf8' });

export const hasGpu = listed.status === 0 && listed.stdout.includes('GPU 0');
export const noGpu = hasGpu
  ? ''
  : ` (skipped: ${listed.error ? 'no nvidia-smi on this machine' : listed.stdout.trim() || 'nvidia-smi lists no GPU'})`;

const toolkit = process.env.CUDA_HOME ?? '/usr/local/cuda';

/** Compiles one of test/bench/plain against the CUDA toolkit. */
export function compilePlain(source: string): string {
  const program = join(mkdtempSync(join(tmpdir(), 'umaprobe-gpu-')), 'program');
  const path = new URL(`../bench/plain/${source}`, import.meta.url).pathname;
  execFileSync('cc', [
    '-O2',
    '-o',
    program,
    path,
    `-I${toolkit}/include`,
    `-L${toolkit}/lib64`,
    '-lcudart',
    `-Wl,-rpath,${toolkit}/lib64`,
  ]);
  return program;
}
