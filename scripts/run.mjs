// Child processes for the scripts: run() shows output, capture() returns it, findTool() searches PATH.
import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository (or, in an installed package, the package). */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Runs a command and shows its output; rejects if it does not exit with 0. */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: 'inherit', ...options });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`${command} ${args[0] ?? ''} failed with ${signal ?? `exit code ${code}`}`));
    });
  });
}

/** Runs a command and returns its standard output; throws with its standard error if it fails. */
export function capture(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28, ...options });
  if (result.error) throw result.error;
  if (result.status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${result.stderr.trim()}`);
  return result.stdout;
}

/** Runs the tasks, one per processor at a time. */
export async function inParallel(tasks) {
  const queue = [...tasks];
  const worker = async () => {
    for (let task = queue.shift(); task !== undefined; task = queue.shift()) await task();
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
}

/** Absolute path of a program on PATH, or null. */
export function findTool(name) {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      if (statSync(path).isFile()) return path;
    } catch {
      // not in this folder
    }
  }
  return null;
}

/**
 * Runs a script's main function; prints an error in one line and sets exit code 1. UMAPROBE_SCRIPT_STACK=1 shows the
 * stack.
 */
export async function main(body) {
  try {
    await body();
  } catch (error) {
    console.error(process.env.UMAPROBE_SCRIPT_STACK ? error.stack : `error: ${error.message}`);
    process.exitCode = 1;
  }
}

/** True if the module with this import.meta.url is the script that node runs. */
export function isMain(url) {
  return process.argv[1] !== undefined && fileURLToPath(url) === process.argv[1];
}
