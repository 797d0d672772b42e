/** How a program is put on a simulated machine: by its environment alone. */
import { mkdirSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isObject, type Machine, machineError } from './machine.ts';

/** The names under which programs ask the loader for NVIDIA's libraries. */
const SONAMES: Readonly<Record<string, readonly string[]>> = {
  cudart: ['libcudart.so.13', 'libcudart.so.12', 'libcudart.so.11.0'],
  cuda: ['libcuda.so.1'],
  nvml: ['libnvidia-ml.so.1'],
};

/**
 * A folder for LD_LIBRARY_PATH: each library's name leads to the simulator, except those that the machine lacks. So does
 * the simulator's own name, for LD_PRELOAD.
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

/** What umaprobe itself looks at. A library that the machine lacks is refused by the simulator, not by a path. */
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
 * What any other program needs on top: the loader finds NVIDIA's names in `libraries` first, and `preload` answers
 * opens of /proc/meminfo and its like from the simulated kernel.
 */
export function foreignVariables(
  libraries: string,
  simulator: string,
  preload: boolean,
  base: NodeJS.ProcessEnv,
): Record<string, string> {
  const prepend = (first: string, old: string | undefined): string =>
    old === undefined || old === '' ? first : `${first}:${old}`;
  // The simulator lies where umaprobe is installed, and the loader splits LD_PRELOAD at spaces and colons without any way
  // to quote them. Its link in the machine's own folder has a path that somebody can choose.
  if (/[\s:;]/.test(libraries)) {
    throw machineError(
      `The folder of simulated machines is ${JSON.stringify(libraries)}; the loader splits paths at spaces, colons and semicolons. Set XDG_RUNTIME_DIR or TMPDIR to a folder without them.`,
    );
  }
  const variables: Record<string, string> = { LD_LIBRARY_PATH: prepend(libraries, base.LD_LIBRARY_PATH) };
  if (preload) variables.LD_PRELOAD = prepend(join(libraries, basename(simulator)), base.LD_PRELOAD);
  return variables;
}
