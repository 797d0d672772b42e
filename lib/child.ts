/** `cudaMemGetInfo` in a child process: asking for it there, and what runs there. */

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { native } from './native.ts';
import { reason } from './reason.ts';
import { ROOT } from './root.ts';

/** What the child prints: one entry a device, in CUDA's order. */
export interface ChildReading {
  ordinal: number;
  free: number;
  total: number;
  /** MemFree just before this process had a context on the device, and right after the reading. */
  hostFreeBefore: number | null;
  hostFreeAfter: number | null;
}

const CHILD = join(ROOT, 'dist/child-mem-get-info.js');

/**
 * `cudaMemGetInfo` of every device, read in a short-lived child: the CUDA context that it needs (527 MiB on an H200)
 * is gone when the child is, and a child that hangs is left behind.
 *
 * @returns readings by ordinal, or the reason why there are none.
 */
export async function readInChild(deadlineMs: number): Promise<Map<number, ChildReading> | string> {
  const child = spawn(process.execPath, [CHILD], { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let words = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    words += text;
  });
  let timer: NodeJS.Timeout | undefined;
  const end = await new Promise<string | null>((resolve) => {
    child.once('error', (error) =>
      resolve(`ERR_UMA_CALL_FAILED: the child process for cudaMemGetInfo did not start: ${error.message}`),
    );
    child.once('close', (code, signal) => {
      const how = signal === null ? `ended with ${code}` : `was ended by ${signal}`;
      resolve(
        code === 0
          ? null
          : `ERR_UMA_CALL_FAILED: the child process for cudaMemGetInfo ${how}: ${words.trim().split('\n').at(-1) ?? ''}`,
      );
    });
    // Not the timeout of spawn: that one still waits for the end, which a child inside a wedged driver never reaches.
    timer = setTimeout(() => {
      child.kill('SIGKILL');
      child.stdout.destroy();
      child.stderr.destroy();
      child.unref();
      resolve(`ERR_UMA_TIMEOUT: cudaMemGetInfo in a child process did not answer within ${deadlineMs} ms`);
    }, deadlineMs);
  });
  clearTimeout(timer);
  if (end !== null) return end;
  const readings = JSON.parse(out) as (ChildReading | { ordinal: number; failure: string })[];
  const failed = readings.find((reading) => 'failure' in reading);
  if (failed !== undefined && readings.length === 1) return (failed as { failure: string }).failure;
  return new Map(
    readings
      .filter((reading): reading is ChildReading => 'free' in reading)
      .map((reading) => [reading.ordinal, reading]),
  );
}

/** Runs in the child: reads each device once and returns the document to print. */
export function readEveryDevice(count: number): (ChildReading | { ordinal: number; failure: string })[] {
  const binding = native();
  const host = new Float64Array(binding.hostMemoryFields().length);
  const slot = binding.hostMemoryFields().indexOf('free');
  const hostFree = () => (binding.hostMemory(host) === null ? (host[slot] as number) : null);
  const memory = new Float64Array(2);
  return Array.from({ length: count }, (_, ordinal) => {
    const hostFreeBefore = hostFree();
    const failure = binding.memGetInfoSync(ordinal, memory);
    if (failure !== null) return { ordinal, failure: reason(failure) };
    return {
      ordinal,
      free: memory[0] as number,
      total: memory[1] as number,
      hostFreeBefore,
      hostFreeAfter: hostFree(),
    };
  });
}
