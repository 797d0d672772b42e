/** The links to libraries and nvidia-smi in the folder of a simulated machine, and the variables that umaprobe reads. */

import { mkdirSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { libraryFolder, programFolder } from '../core/native/machine-environment.ts';
import type { Machine } from '../types/index.ts';

/**
 * Names under which programs load NVIDIA's libraries, each with the file beside the simulator that answers; null: the
 * simulator itself. The names without a version come with development packages; programs open them nevertheless.
 */
function libraryNames({ driver }: Machine): Record<string, Record<string, string | null>> {
  const newest = Math.min(13, Math.max(11, Math.floor(driver.runtimeVersion / 1000)));
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

/**
 * Creates a folder for LD_LIBRARY_PATH with a link to the simulator under the name of each library that the machine
 * has, and under the simulator's own name, for LD_PRELOAD.
 */
export function createLibraryFolder(machine: Machine, stateFolder: string, simulator: string): string {
  const folder = libraryFolder(stateFolder);
  mkdirSync(folder, { mode: 0o700 });
  symlinkSync(simulator, join(folder, basename(simulator)));
  // A program may have changed the machine since it was loaded.
  const missing: readonly string[] = machine.faults?.missingLibraries ?? [];
  for (const [library, names] of Object.entries(libraryNames(machine))) {
    if (missing.includes(library)) continue;
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
