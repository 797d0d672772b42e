/** The environment variables and links to libraries and nvidia-smi that put a program on a simulated machine. */

import { mkdirSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isObject, type Machine, machineError } from './machine.ts';

/**
 * Names under which programs load NVIDIA's libraries, each with the file beside the simulator that answers; null: the
 * simulator itself. The names without a version come with development packages; programs open them nevertheless.
 */
function libraryNames(machine: Machine): Record<string, Record<string, string | null>> {
  const driver = isObject(machine.driver) ? machine.driver : {};
  const newest = Math.min(13, Math.max(11, Math.floor(Number(driver.runtimeVersion ?? 13_000) / 1000)));
  return {
    cudart: {
      'libcudart.so': cudartFile(newest),
      'libcudart.so.13': cudartFile(13),
      'libcudart.so.12': cudartFile(12),
      'libcudart.so.11.0': cudartFile(11),
    },
    cuda: { 'libcuda.so': null, 'libcuda.so.1': null },
    nvml: { 'libnvidia-ml.so': null, 'libnvidia-ml.so.1': null },
  };
}

/** The CUDA runtime of one version: what differs between versions, in front of the simulator. */
function cudartFile(version: number): string {
  return `libumasim-cudart${version}.so`;
}

/** The folder for LD_LIBRARY_PATH in the folder of a machine. */
export function libraryFolder(stateFolder: string): string {
  return join(stateFolder, 'lib');
}

function programFolder(stateFolder: string): string {
  return join(stateFolder, 'bin');
}

/**
 * Creates a folder for LD_LIBRARY_PATH with a link to the simulator under the name of each library that the machine
 * has, and under the simulator's own name, for LD_PRELOAD.
 */
export function createLibraryFolder(machine: Machine, stateFolder: string, simulator: string): string {
  const folder = libraryFolder(stateFolder);
  mkdirSync(folder, { mode: 0o700 });
  symlinkSync(simulator, join(folder, basename(simulator)));
  const missing = isObject(machine.faults) ? machine.faults.missingLibraries : undefined;
  for (const [library, names] of Object.entries(libraryNames(machine))) {
    if (Array.isArray(missing) && missing.includes(library)) continue;
    for (const [name, file] of Object.entries(names))
      symlinkSync(file === null ? simulator : join(dirname(simulator), file), join(folder, name));
  }
  return folder;
}

/**
 * Creates a folder for PATH with nvidia-smi. A machine without a driver has it, too: there it says that the library is
 * missing, where the one of this computer would show a real GPU.
 */
export function createProgramFolder(stateFolder: string, nvidiaSmi: string): void {
  const folder = programFolder(stateFolder);
  mkdirSync(folder, { mode: 0o700 });
  symlinkSync(nvidiaSmi, join(folder, 'nvidia-smi'));
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
 * Additional variables for any other program: it finds NVIDIA's libraries and nvidia-smi in the folder of the machine
 * first. With `preload` the simulator also serves /proc/meminfo and the other simulated kernel files.
 */
export function foreignVariables(
  stateFolder: string,
  simulator: string,
  preload: boolean,
  env: NodeJS.ProcessEnv,
): Record<string, string> {
  const prepend = (first: string, old: string | undefined): string =>
    old === undefined || old === '' ? first : `${first}:${old}`;
  const libraries = libraryFolder(stateFolder);
  // The loader splits LD_PRELOAD at spaces and colons, which cannot be quoted, and the folder in which umaprobe is
  // installed may contain them. The user can choose the folder of simulated machines, so the link there is used.
  if (/[\s:;]/.test(libraries)) {
    throw machineError(
      `The folder of simulated machines is ${JSON.stringify(libraries)}; the loader splits paths at spaces, colons and semicolons. Set XDG_RUNTIME_DIR or TMPDIR to a folder without them.`,
    );
  }
  const variables: Record<string, string> = {
    LD_LIBRARY_PATH: prepend(libraries, env.LD_LIBRARY_PATH),
    // Without PATH, programs look in /bin and /usr/bin.
    PATH: prepend(programFolder(stateFolder), env.PATH ?? '/bin:/usr/bin'),
  };
  if (preload) variables.LD_PRELOAD = prepend(join(libraries, basename(simulator)), env.LD_PRELOAD);
  return variables;
}
