/** Programs in C and C++: those of test/clients, built against the simulator under test, and any other. */

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { simulatorLibrary } from '../../lib/core/native/binding.ts';
import { loadMachine, shippedNames } from '../../lib/sim/load.ts';
import { flatten } from '../../lib/sim/machine.ts';
import { ROOT } from './root.ts';

export const CLIENTS = join(ROOT, 'test', 'clients');
/** The folder of NVIDIA's toolkit, which may be absent. */
export const CUDA_TOOLKIT = process.env.CUDA_HOME ?? '/usr/local/cuda';

const compiler = process.env.CXX ?? 'c++';

/** The reason why no program can be built here; null: there is a compiler. */
export function missingCompiler(): string | null {
  const { error } = spawnSync(compiler, ['--version'], { stdio: 'ignore' });
  return error === undefined ? null : `no C++ compiler (${compiler}): ${error.message}`;
}

/** The environment of programs that are not under test: without a preloaded sanitizer. */
export function unsanitizedEnvironment(): NodeJS.ProcessEnv {
  const { LD_PRELOAD: _, ...rest } = process.env;
  return rest;
}

/** Runs the C++ compiler in the root folder. */
export function compile(args: readonly string[]): void {
  execFileSync(compiler, args, { cwd: ROOT, encoding: 'utf8', env: unsanitizedEnvironment(), stdio: 'pipe' });
}

/** Builds a program from one file of C. */
export function compileC(source: string, program: string, flags: readonly string[] = []): void {
  compile(['-x', 'c', source, '-x', 'none', '-O2', ...flags, '-o', program]);
}

/** The reason why no program can be built with NVIDIA's header; null: the header and a compiler are here. */
export function missingToolkit(): string | null {
  return existsSync(join(CUDA_TOOLKIT, 'include', 'cuda_runtime_api.h'))
    ? missingCompiler()
    : `no CUDA headers under ${CUDA_TOOLKIT}`;
}

/** The reason why no CUDA program can be built with nvcc; null: nvcc is here. */
export function missingNvcc(): string | null {
  return existsSync(join(CUDA_TOOLKIT, 'bin', 'nvcc')) ? missingCompiler() : `no nvcc under ${CUDA_TOOLKIT}/bin`;
}

/** Builds a program from a file of CUDA C++, with the shared runtime or with the static one, as nvcc does by itself. */
export function compileCuda(source: string, program: string, runtime: 'shared' | 'static'): void {
  const nvcc = join(CUDA_TOOLKIT, 'bin', 'nvcc');
  const args = ['-ccbin', compiler, '-cudart', runtime, source, '-o', program];
  execFileSync(nvcc, args, { cwd: ROOT, encoding: 'utf8', env: unsanitizedEnvironment(), stdio: 'pipe' });
}

/** The flags of a program that is linked with libcudart. */
export function cudartFlags(): string[] {
  const libraries = ['lib64', 'lib']
    .map((name) => join(CUDA_TOOLKIT, name))
    .find((folder) => existsSync(join(folder, 'libcudart.so')));
  return [`-I${CUDA_TOOLKIT}/include`, `-L${libraries}`, '-lcudart'];
}

/** Builds test/clients/world: scenarios against the simulator's exported functions. */
export function buildWorldtest(folder: string): string {
  const simulator = simulatorLibrary();
  const program = join(folder, 'worldtest');
  const sources = readdirSync(join(CLIENTS, 'world')).filter((file) => file.endsWith('.cc'));
  compile([
    ...['-std=c++17', '-O1', '-Wall', '-Wextra', '-pthread', '-Inative', '-o', program],
    ...sources.map((file) => join(CLIENTS, 'world', file)),
    // A simulator built with a sanitizer takes the functions of that runtime from the program that loads it.
    ...[simulator, `-Wl,-rpath,${dirname(simulator)}`, '-Wl,--allow-shlib-undefined'],
  ]);
  return program;
}

/** Writes the flat description of each shipped machine to NAME.flat. */
export function writeDescriptions(folder: string): void {
  for (const name of shippedNames()) writeFileSync(join(folder, `${name}.flat`), flatten(loadMachine(name)));
}
