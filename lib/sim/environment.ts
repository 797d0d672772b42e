/** The environment variables and library links that put a program on a simulated machine. */

import { mkdirSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isObject, type Machine, machineError } from './machine.ts';

/** Sonames under which programs load NVIDIA's libraries. */
const SONAMES: Readonly<Record<string, readonly string[]>> = {
  cudart: ['libcudart.so.13', 'libcudart.so.12', 'libcudart.so.11.0'],
  cuda: ['libcuda.so.1'],
  nvml: ['libnvidia-ml.so.1'],
};

/**
 * Creates a folder for LD_LIBRARY_PATH with a link to the simulator under the name of each library that the machine
 * has, and under the simulator's own name, for LD_PRELOAD.
 */
export function createLibraryFolder(machine: Machine, stateFolder: string, simulator: string): string {
  const folder = join(stateFolder, 'lib');
  mkdirSync(folder, { mode: 0o700 });
  symlinkSync(simulator, join(folder, basename(simulator)));
  const missing = isObject(machine.faults) ? machine.faults.missingLibraries : undefined;
  for (const [library, names] of Object.entries(SONAMES)) {
    if (Array.isArray(missing) && missing.includes(library)) continue;
    for (const name of names) symlinkSync(simulator, join(folder, name));
  }
  return folder;
}

/** Variables that umaprobe itself reads. The simulator, not a path, refuses libraries that the machine lacks. */
export function ownVariables(statePath: string, simulator: string): Record<string, string> {
  return {
    UMAPROBE_SIM: statePath,
    UMAPROBE_SIM_LIBRARY: simulator,
    UMAPROBE_CUDART: simulator,
    UMAPROBE_CUDA: simulator,
    UMAPROBE_NVML: simulator,
  };
}

/**
 * Additional variables for any other program: the loader finds NVIDIA's libraries in `libraries` first. With `preload`
 * the simulator also serves /proc/meminfo and the other simulated kernel files.
 */
export function foreignVariables(
  libraries: string,
  simulator: string,
  preload: boolean,
  env: NodeJS.ProcessEnv,
): Record<string, string> {
  const prepend = (first: string, old: string | undefined): string =>
    old === undefined || old === '' ? first : `${first}:${old}`;
  // The loader splits LD_PRELOAD at spaces and colons, which cannot be quoted, and the folder in which umaprobe is
  // installed may contain them. The user can choose the folder of simulated machines, so the link there is used.
  if (/[\s:;]/.test(libraries)) {
    throw machineError(
      `The folder of simulated machines is ${JSON.stringify(libraries)}; the loader splits paths at spaces, colons and semicolons. Set XDG_RUNTIME_DIR or TMPDIR to a folder without them.`,
    );
  }
  const variables: Record<string, string> = { LD_LIBRARY_PATH: prepend(libraries, env.LD_LIBRARY_PATH) };
  if (preload) variables.LD_PRELOAD = prepend(join(libraries, basename(simulator)), env.LD_PRELOAD);
  return variables;
}
