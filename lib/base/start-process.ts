/** Starts child processes, with one kind of error for everything that can prevent it. */

import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { getSystemErrorMap } from 'node:util';
import { errorCode, UmaError } from './errors.ts';

/**
 * A running child process with its pipes. An `error` event that comes later, as of a kill that is not permitted, is
 * ignored: without a listener it would end this process.
 *
 * @throws UmaError with the kernel's reason: EMFILE without free descriptors, EAGAIN at the limit of processes, ENOENT.
 */
export async function startProcess(
  file: string,
  args: readonly string[],
  options: SpawnOptions,
): Promise<ChildProcess> {
  try {
    const child = spawn(file, args, options);
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    child.on('error', () => undefined);
    return child;
  } catch (cause) {
    // spawn() throws some errors, emits others, and for EMFILE returns a child without pipes.
    throw startError(file, cause as NodeJS.ErrnoException);
  }
}

function startError(file: string, cause: NodeJS.ErrnoException): UmaError {
  const { code = 'UNKNOWN', errno, message } = cause;
  const description = errno === undefined ? undefined : getSystemErrorMap().get(errno)?.[1];
  const failure = {
    source: 'kernel',
    call: `start ${file}`,
    status: errno === undefined ? null : Math.abs(errno),
    name: code,
    message: `the child process could not be started: ${description ?? message}`,
  } as const;
  // A program that is missing is no missing feature of the kernel.
  return new UmaError(code === 'ENOENT' ? 'ERR_UMA_CALL_FAILED' : errorCode(failure), failure, { cause });
}
