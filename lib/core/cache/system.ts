/** The system that the cache actions work on. It is passed to them, so that tests can replace it. */

import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { UmaError } from '../../base/errors.ts';
import { isFailure } from '../../base/facts.ts';
import { executable } from '../../base/system-program.ts';
import type { HostMemory, Snapshot } from '../../types/index.ts';
import { readHostMemory } from '../host/meminfo-within.ts';
import { native } from '../native/binding.ts';
import type { NativeBinding } from '../native/contract.ts';
import { snapshot } from '../snapshot/index.ts';
import { type ResolvedPath, resolvePath } from './walk.ts';

/** CUDA and NVML answer within a second even after a first start; a receipt does not wait for a hung one. */
const SNAPSHOT_DEADLINE_MS = 2000;

export interface System {
  binding: NativeBinding;
  /** Name of the simulated machine; null: the real one. */
  simulated: string | null;
  env: NodeJS.ProcessEnv;
  /** Effective user id. */
  uid: number;
  /** /proc/meminfo. */
  host(): Promise<HostMemory>;
  /** A snapshot; unless `needed`, without cudaMemGetInfo, which needs a CUDA context and on a unified device equals MemFree. */
  takeSnapshot(memGetInfo?: 'needed' | 'never'): Promise<Snapshot>;
  /** Returns why this process may not write a kernel file: "EACCES", "EROFS", "ENOENT"; null: it may. */
  mayWrite(path: string): Promise<string | null>;
  /** See `resolvePath` of walk.ts. */
  resolvePath(path: string): Promise<ResolvedPath | null>;
  /** True if the program exists and this process may run it. */
  executable(path: string): boolean;
  /** Runs a program by its absolute path, without a shell. */
  run(file: string, args: readonly string[], limitMs: number): Promise<CommandResult>;
}

export interface CommandResult {
  /** Exit code; null: killed by a signal, not started, or not finished within the limit. */
  code: number | null;
  stderr: string;
  /** The program is still running: its caller cannot kill a program that runs as root. */
  timedOut: boolean;
}

/** The machine that this process is bound to. The binary is loaded on the first use: options are checked without it. */
export function thisSystem(): System {
  return {
    get binding() {
      return native();
    },
    get simulated() {
      const name = native().simulatedMachine();
      return isFailure(name) ? null : name;
    },
    env: process.env,
    uid: process.geteuid?.() ?? 0,
    host: () => readHostMemory(),
    takeSnapshot: (memGetInfo = 'never') => snapshot({ memGetInfo, deadlineMs: SNAPSHOT_DEADLINE_MS }),
    mayWrite: (path) => (isFailure(native().simulatedMachine()) ? writeRefusal(path) : simulatedWriteRefusal()),
    resolvePath: (path) => resolvePath(native(), path),
    executable,
    run,
  };
}

/** @throws UmaError on a simulated machine, which has no files; those of this computer are another machine's. */
export function assertHasFiles({ simulated }: Pick<System, 'simulated'>, call: string): void {
  if (simulated === null) return;
  throw new UmaError('ERR_UMA_NOT_SUPPORTED', {
    source: 'umaprobe',
    call,
    status: null,
    name: 'SIMULATED',
    message: `the simulated machine ${simulated} has a page cache but no files in it; the files of this computer are not in its page cache`,
  });
}

/** The kernel decides, not the user id: root in a container with a read-only /proc/sys may not write there. */
async function writeRefusal(path: string): Promise<string | null> {
  try {
    await access(path, constants.W_OK);
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'EACCES';
  }
}

/** The simulated kernel lets only root write, as the real one does. */
async function simulatedWriteRefusal(): Promise<string | null> {
  return process.geteuid?.() === 0 ? null : 'EACCES';
}

function run(file: string, args: readonly string[], limitMs: number): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = execFile(file, [...args], { encoding: 'utf8', maxBuffer: 1 << 20 }, (error, _stdout, stderr) => {
      clearTimeout(timer);
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : null;
      // A program that could not be started has no output; its error does.
      const output = stderr === '' && error !== null && code === null ? error.message : stderr;
      resolve({ code, stderr: output, timedOut: false });
    });
    child.stdin?.end();
    // execFile's own timeout is not used: it waits for the exit, and the caller of sudo cannot kill it.
    const timer = setTimeout(() => {
      child.kill('SIGTERM');
      for (const stream of child.stdio) stream?.destroy();
      child.unref();
      resolve({ code: null, stderr: '', timedOut: true });
    }, limitMs);
  });
}
