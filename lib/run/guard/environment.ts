/** Environment of the native guard, and with it of the program that it runs. */

import { dirname } from 'node:path';
import { native } from '../../core/native/binding.ts';
import { foreignVariables, libraryFolder } from '../../core/native/machine-environment.ts';

/**
 * The variables of the program, and those of the machine of this process. The program gets a simulated machine whole:
 * CUDA, NVML and the memory of the host.
 */
export function guardEnvironment(env: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv {
  const machine = native().machineVariables();
  // An empty one is not set: the program shall not see variables that its user did not set.
  const set = Object.entries(machine).filter(([, value]) => value !== '');
  const unset = Object.keys(machine).filter((name) => machine[name] === '');
  const result: NodeJS.ProcessEnv = { ...env, ...Object.fromEntries(set) };
  for (const name of unset) delete result[name];
  const { UMAPROBE_SIM: state = '', UMAPROBE_SIM_LIBRARY: simulator = '' } = machine;
  if (state === '') return result;
  const folder = dirname(state);
  // The program has them already under `umaprobe sim run`.
  if (result.LD_LIBRARY_PATH?.split(':').includes(libraryFolder(folder))) return result;
  return { ...result, ...foreignVariables(folder, simulator, true, result) };
}
