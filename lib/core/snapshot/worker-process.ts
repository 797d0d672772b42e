/** Runs one of the snapshot's workers in a child process, and collects the lines that it prints. */

import type { ChildProcess } from 'node:child_process';
import type { Failure } from '../../base/errors.ts';
import { isFailure } from '../../base/facts.ts';
import { startOwnProgram } from '../../base/start-process.ts';
import { native } from '../native/binding.ts';

export interface WorkerAnswer {
  lines: string[];
  /** The reason why a line is missing: a library failed or hung, or (a sentence) the child did not get that far. */
  missing: Failure | string;
}

export interface WorkerOptions {
  /** Counts from the first line of the child: on a busy machine Node takes seconds to start. */
  deadlineMs: number;
  environment: NodeJS.ProcessEnv;
  /** Subject of the child's reading, for messages. */
  purpose: string;
}

/** Limit for the start of the process. */
const START_MS = 10_000;

/**
 * A short-lived child process. It is killed at the deadline and not waited for; lines printed before count. The child
 * exits when this process does: it watches its standard input.
 *
 * @param worker name of its file in this room.
 * @throws UmaError if the child cannot be started.
 */
export async function runWorker(
  worker: 'mem-get-info-worker' | 'hidden-devices-worker',
  words: readonly string[],
  { deadlineMs, environment, purpose }: WorkerOptions,
): Promise<WorkerAnswer> {
  const child = await startOwnProgram(worker, words, {
    stdio: ['pipe', 'pipe', 'pipe'],
    // The same machine as this process, even if process.env has changed since the first reading.
    env: { ...environment, ...native().machineVariables() },
  });
  return workerAnswer(child, deadlineMs, `${purpose} in a child process`);
}

/** @internal What a child answers that prints an empty line when it begins. */
export async function workerAnswer(child: ChildProcess, deadlineMs: number, call: string): Promise<WorkerAnswer> {
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
  const missing = await new Promise<Failure | string>((resolve) => {
    child.once('close', (code, signal) => {
      // The last line is a failure as JSON, or what Node says of a child that cannot run.
      const lastLine = errorText.trim().split('\n').at(-1) ?? '';
      if (signal !== null) resolve(failed(call, 'KILLED', `killed by ${signal}`));
      else resolve(readFailure(lastLine) ?? `ERR_UMA_CALL_FAILED: ${call} exited with ${code}: ${lastLine}`);
    });
    // The timeout of spawn() does not help: it waits for the exit, which a child inside a wedged driver never reaches.
    const limit = (ms: number, reason: Failure | string): void => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        child.kill('SIGKILL');
        for (const stream of child.stdio) stream?.destroy();
        child.unref();
        resolve(reason);
      }, ms);
    };
    // No timeout of the library: it was not asked.
    limit(START_MS, `ERR_UMA_CALL_FAILED: ${call} was not made: Node did not start within ${START_MS / 1000} s`);
    child.stdout?.once('data', () => limit(deadlineMs, failed(call, 'TIMEOUT', `no answer within ${deadlineMs} ms`)));
  });
  clearTimeout(timer);
  const complete = out.slice(0, out.lastIndexOf('\n') + 1).split('\n');
  return { lines: complete.filter((line) => line !== ''), missing };
}

function failed(call: string, name: string, message: string): Failure {
  return { failed: true, source: 'umaprobe', call, status: null, name, message };
}

function readFailure(line: string): Failure | null {
  try {
    const failure = JSON.parse(line) as unknown;
    return isFailure(failure) ? failure : null;
  } catch {
    return null;
  }
}
