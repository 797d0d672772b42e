/** The variables that put a program on the simulated machine of this process. */

import { basename, join } from 'node:path';
import { invalidArgument } from '../../base/arguments.ts';

/** The folder for LD_LIBRARY_PATH in the folder of a machine. */
export function libraryFolder(stateFolder: string): string {
  return join(stateFolder, 'lib');
}

/** The folder for PATH in the folder of a machine. */
export function programFolder(stateFolder: string): string {
  return join(stateFolder, 'bin');
}

/**
 * Additional variables for any other program: it finds NVIDIA's libraries and nvidia-smi in the folder of the machine
 * first. `preload`: the simulator also serves /proc/meminfo and the other simulated kernel files.
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
    throw invalidArgument(
      `The folder of simulated machines is ${JSON.stringify(libraries)}; the loader splits paths at spaces, colons and semicolons. Set XDG_RUNTIME_DIR or TMPDIR to a folder without them.`,
    );
  }
  const variables: Record<string, string> = {
    LD_LIBRARY_PATH: prepend(libraries, env.LD_LIBRARY_PATH),
    // Programs without PATH look in /bin and /usr/bin.
    PATH: prepend(programFolder(stateFolder), env.PATH ?? '/bin:/usr/bin'),
  };
  if (preload) variables.LD_PRELOAD = prepend(join(libraries, basename(simulator)), env.LD_PRELOAD);
  return variables;
}
