/** Runs mem-get-info-worker.ts, which reads `cudaMemGetInfo`, in a child process, and collects its output. */

import { join } from 'node:path';
import { startProcess } from '../base/start-process.ts';
import { native } from '../native/binding.ts';
import { ROOT } from '../root.ts';

/** Output of the child: one line of JSON per device, in the order asked, each printed as soon as it is known. */
export type ChildLine = { ordinal: number } & (
  | {
      free: number;
      total: number;
      /** Memory of the child process by NVML, which is its CUDA context. null: unknown. */
      ownBytes: number | null;
    }
  | { failure: string }
);

export interface ChildAnswer {
  lines: ChildLine[];
  /** Reason for every device without a line. */
  missingReason: string;
}

const CHILD = join(ROOT, 'dist/mem-get-info-worker.js');

/**
 * `cudaMemGetInfo` of the given devices, read in a short-lived child process, whose CUDA context (527 MiB on an H200) is
 * gone when it exits. At the deadline the child is killed and not waited for; lines printed before count. The child
 * exits when this process does: it watches its standard input.
 *
 * @throws UmaError if the child cannot be started.
 */
export async function readMemGetInfoInChild(ordinals: readonly number[], deadlineMs: number): Promise<ChildAnswer> {
  const child = await startProcess(process.execPath, [CHILD, String(deadlineMs), ordinals.join()], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // The same machine as this process, even if process.env has changed since the first reading.
    env: { ...process.env, ...native().machineVariables() },
  });
  let out = '';
  let errorText = '';
  child.stdin?.on('error', () => undefined); // the child has exited already
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errorText += text;
  });
  let timer: NodeJS.Timeout | undefined;
  const missingReason = await new Promise<string>((resolve) => {
    child.once('close', (code, signal) => {
      const outcome = signal === null ? `exited with ${code}` : `was killed by ${signal}`;
      resolve(errorText.trim().split('\n').at(-1) || failed(outcome));
    });
    // The timeout of spawn() does not help: it waits for the exit, which a child inside a wedged driver never reaches.
    timer = setTimeout(() => {
      child.kill('SIGKILL');
      for (const stream of child.stdio) stream?.destroy();
      child.unref();
      resolve(`ERR_UMA_TIMEOUT: cudaMemGetInfo in a child process did not answer within ${deadlineMs} ms`);
    }, deadlineMs);
  });
  clearTimeout(timer);
  const complete = out.slice(0, out.lastIndexOf('\n') + 1).split('\n');
  return { lines: complete.filter((line) => line !== '').map((line) => JSON.parse(line) as ChildLine), missingReason };
}

function failed(outcome: string): string {
  return `ERR_UMA_CALL_FAILED: the child process for cudaMemGetInfo ${outcome}`;
}
