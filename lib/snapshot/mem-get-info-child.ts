/** `cudaMemGetInfo` in a child process, from the side of the one who asks. What runs there is mem-get-info-worker.ts. */

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { native } from '../native/binding.ts';
import { ROOT } from '../root.ts';

/** What the child prints: a line of JSON for each device, in CUDA's order, as soon as it is known. */
export type ChildLine = { ordinal: number } & (
  | {
      free: number;
      total: number;
      /** What NVML says that the child itself holds: its context. null: not known. */
      ownBytes: number | null;
    }
  | { failure: string }
);

export interface ChildAnswer {
  lines: ChildLine[];
  /** Why devices without a line have none. */
  missingReason: string;
}

const CHILD = join(ROOT, 'dist/mem-get-info-worker.js');

/**
 * `cudaMemGetInfo` of every device, read in a short-lived child: the CUDA context that it needs (527 MiB on an H200)
 * is gone when the child is. One that hangs is killed at the deadline and not waited for; what it said before counts.
 * The child ends by itself when this process does: it watches its standard input.
 */
export async function readMemGetInfoInChild(deadlineMs: number): Promise<ChildAnswer> {
  const child = spawn(process.execPath, [CHILD, String(deadlineMs)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // The machine that this process is on, whatever its environment says by now.
    env: { ...process.env, ...native().machineVariables() },
  });
  let out = '';
  let words = '';
  child.stdin.on('error', () => undefined); // it has gone already
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    words += text;
  });
  let timer: NodeJS.Timeout | undefined;
  const missingReason = await new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(failed(`did not start: ${error.message}`)));
    child.once('close', (code, signal) => {
      const how = signal === null ? `ended with ${code}` : `was ended by ${signal}`;
      resolve(words.trim().split('\n').at(-1) || failed(how));
    });
    // Not the timeout of spawn: that one still waits for the end, which a child inside a wedged driver never reaches.
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

function failed(how: string): string {
  return `ERR_UMA_CALL_FAILED: the child process for cudaMemGetInfo ${how}`;
}
