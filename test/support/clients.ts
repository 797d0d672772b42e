/** Builds the C and C++ clients of test/clients against the simulator under test. */

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { simulatorLibrary } from '../../lib/native/binding.ts';
import { loadMachine, shippedNames } from '../../lib/sim/load.ts';
import { flatten } from '../../lib/sim/machine.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const clients = join(root, 'test', 'clients');
/** Where NVIDIA's toolkit is, if anywhere. */
export const toolkit = process.env.CUDA_HOME ?? '/usr/local/cuda';

const compiler = process.env.CXX ?? 'c++';

/** Why the clients cannot be built here; null when they can. */
export function withoutCompiler(): string | null {
  const { error } = spawnSync(compiler, ['--version'], { stdio: 'ignore' });
  return error === undefined ? null : `no C++ compiler (${compiler}): ${error.message}`;
}

/** A folder that goes away with the process. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'umaprobe-clients-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The environment of a compiler or client that is not itself under test: no sanitizer preloaded. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const { LD_PRELOAD: _, ...rest } = process.env;
  return rest;
}

export function compile(args: readonly string[]): void {
  execFileSync(compiler, args, { cwd: root, encoding: 'utf8', env: plainEnvironment(), stdio: 'pipe' });
}

/** The program of test/clients/world: scenarios against the simulator's exported functions. */
export function buildWorldtest(folder: string): string {
  const simulator = simulatorLibrary();
  const program = join(folder, 'worldtest');
  const sources = readdirSync(join(clients, 'world')).filter((file) => file.endsWith('.cc'));
  compile([
    ...['-std=c++17', '-O1', '-Wall', '-Wextra', '-pthread', '-Inative', '-o', program],
    ...sources.map((file) => join(clients, 'world', file)),
    // A simulator built with a sanitizer leaves that runtime's functions to whoever loads it.
    ...[simulator, `-Wl,-rpath,${dirname(simulator)}`, '-Wl,--allow-shlib-undefined'],
  ]);
  return program;
}

/** The flat descriptions of all shipped machines, NAME.flat each. */
export function writeDescriptions(folder: string): void {
  for (const name of shippedNames()) writeFileSync(join(folder, `${name}.flat`), flatten(loadMachine(name)));
}
