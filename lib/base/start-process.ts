/** Starts child processes, with one kind of error for everything that can prevent it. */

import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { join } from 'node:path';
import { getSystemErrorMap } from 'node:util';
import { packageRoot } from '../root.ts';
import { errorCode, UmaError } from './errors.ts';

/** The package's own programs, dist/<name>.js. */
export const OWN_PROGRAMS = ['cli', 'worker', 'mem-get-info-worker', 'hidden-devices-worker'] as const;
export type OwnProgram = (typeof OWN_PROGRAMS)[number];

/** The file of one of the package's own programs, in the package at `root`. */
export function ownProgramPath(name: OwnProgram, root = packageRoot()): string {
  return join(root, `dist/${name}.js`);
}

/** These programs run a file only if they are told so: `process.execPath` of Electron, and of what Bun has compiled, is an application. */
const RUN_A_FILE: Readonly<Record<string, Record<string, string>>> = {
  bun: { BUN_BE_BUN: '1' },
  electron: { ELECTRON_RUN_AS_NODE: '1' },
};

/**
 * One of the package's own programs in a process of its own: by Node, or by the standalone file, which runs these files as
 * Node does (standalone/main.ts).
 *
 * @throws as `startProcess`.
 */
export function startOwnProgram(
  name: OwnProgram,
  args: readonly string[],
  options: SpawnOptions,
): Promise<ChildProcess> {
  const runtime = Object.keys(RUN_A_FILE).find((key) => key in process.versions) ?? '';
  const env = { ...(options.env ?? process.env), ...RUN_A_FILE[runtime] };
  return startProcess(process.execPath, [ownProgramPath(name), ...args], { ...options, env });
}

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
