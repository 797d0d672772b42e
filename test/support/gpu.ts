/** The real GPU of this computer, by nvidia-smi, and a plain program for it. */

import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { CUDA_TOOLKIT, compileC, cudartFlags } from './clients.ts';
import { ROOT } from './root.ts';
import { temporaryFolder } from './temporary-folder.ts';

const listed = spawnSync('nvidia-smi', ['-L'], { encoding: 'utf8' });

export const hasGpu = listed.status === 0 && listed.stdout.includes('GPU 0');
/** Reason for skipping tests, for their titles; empty if there is a GPU. */
export const noGpu = hasGpu
  ? ''
  : ` (skipped: ${listed.error ? 'no nvidia-smi on this machine' : listed.stdout.trim() || 'nvidia-smi lists no GPU'})`;

function nvidiaSmi(query: string): string {
  return execFileSync('nvidia-smi', [query, '--format=csv,noheader,nounits'], { encoding: 'utf8' }).trim();
}

/** nvidia-smi's answers by GPU and field; `[N/A]` is null. */
export function queryGpu(fields: string): (string | null)[][] {
  return nvidiaSmi(`--query-gpu=${fields}`)
    .split('\n')
    .map((line) => line.split(', ').map((word) => (word.startsWith('[') ? null : word)));
}

/** Memory of the first GPU that is in use. */
export function usedMiB(): number {
  return Number(queryGpu('memory.used')[0]?.[0]);
}

/** nvidia-smi's list of processes that have a CUDA context; empty when there is none. */
export function computeProcesses(): string {
  return nvidiaSmi('--query-compute-apps=pid,used_memory');
}

/** Builds a C program against the CUDA toolkit. */
export function compileWithCudart(source: string): string {
  const program = join(temporaryFolder('gpu'), 'program');
  compileC(source, program, [...cudartFlags(), `-Wl,-rpath,${CUDA_TOOLKIT}/lib64`]);
  return program;
}

/** Builds a program of test/bench/plain against the CUDA toolkit. */
export function compilePlain(source: string): string {
  return compileWithCudart(join(ROOT, 'test/bench/plain', source));
}
