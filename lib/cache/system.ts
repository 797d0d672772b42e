/** What the actions on the cache act on. Given to them, so that a test can say what the machine is and what it answers. */
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { UmaError } from '../base/errors.ts';
import { isFailure } from '../base/facts.ts';
import { hostMemorySync } from '../host/meminfo.ts';
import { native } from '../native/binding.ts';
import type { NativeBinding } from '../native/contract.ts';
import { snapshot } from '../snapshot/index.ts';
import type { HostMemory, Snapshot } from '../types/index.ts';

/** CUDA and NVML answer in milliseconds, or after a first start in a second; a receipt does not wait for one that hangs. */
const LOOK_LIMIT_MS = 2000;

export interface CommandResult {
  /** Exit code; null: ended by a signal, not started, or not ended within its limit. */
  code: number | null;
  stderr: string;
  /** It is still running: a program of root's cannot be ended by its caller. */
  timedOut: boolean;
}

export interface System {
  binding: NativeBinding;
  /** Name of the simulated machine; null: the real one. */
  simulated: string | null;
  env: NodeJS.ProcessEnv;
  /** Effective user id. */
  uid: number;
  /** /proc/meminfo, in microseconds. */
  host(): HostMemory;
  /** A reading, without cudaMemGetInfo: that needs a context, and on a unified device it is MemFree. */
  takeSnapshot(): Promise<Snapshot>;
  /** Why this process may not write a file of the kernel: "EACCES", "EROFS", "ENOENT"; null: it may. */
  mayWrite(path: string): Promise<string | null>;
  /** Whether there is such a program that this process may run. */
  executable(path: string): boolean;
  /** Runs a program by its absolute path, without a shell. */
  run(file: string, args: readonly string[], limitMs: number): Promise<CommandResult>;
}

/** The machine that this process is on. */
export function thisSystem(): System {
  const binding = native();
  const name = binding.simulatedMachine();
  const simulated = isFailure(name) ? null : name;
  return {
    binding,
    simulated,
    env: process.env,
    uid: process.geteuid?.() ?? 0,
    host: hostMemorySync,
    takeSnapshot: () => snapshot({ memGetInfo: 'never', deadlineMs: LOOK_LIMIT_MS, childDeadlineMs: LOOK_LIMIT_MS }),
    mayWrite: (path) => (simulated === null ? writable(path) : simulatedRights()),
    executable,
    run,
  };
}

/** Asked of the kernel: root in a container with a read-only /proc/sys may not write there, whatever its user id says. */
async function writable(path: string): Promise<string | null> {
  try {
    await access(path, constants.W_OK);
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'EACCES';
  }
}

/** The simulated kernel has the rights of the real one: root writes, nobody else. */
async function simulatedRights(): Promise<string | null> {
  return process.geteuid?.() === 0 ? null : 'EACCES';
}

function run(file: string, args: readonly string[], limitMs: number): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = execFile(file, [...args], { encoding: 'utf8', maxBuffer: 1 << 20 }, (error, _stdout, stderr) => {
      clearTimeout(timer);
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : null;
      resolve({
        code,
        stderr: stderr === '' && error !== null && code === null ? error.message : stderr,
        timedOut: false,
      });
    });
    child.stdin?.end();
    // Not the timeout of execFile: it waits for the end, and sudo cannot be killed by whoever called it.
    const timer = setTimeout(() => {
      child.kill('SIGTERM');
      for (const stream of child.stdio) stream?.destroy();
      child.unref();
      resolve({ code: null, stderr: '', timedOut: true });
    }, limitMs);
  });
}

/** Files of the real machine are not those of a simulated one: acting on them would mix the two. */
export function needsFiles({ simulated }: Pick<System, 'simulated'>, call: string): void {
  if (simulated === null) return;
  throw new UmaError('ERR_UMA_NOT_SUPPORTED', {
    source: 'umaprobe',
    call,
    status: null,
    name: 'SIMULATED',
    message: `the simulated machine ${simulated} has a page cache but no files in it; those of this computer are not its own`,
  });
}

export function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
