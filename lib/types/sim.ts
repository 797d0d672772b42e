/** The list of the simulated machines. */

import type { Natural } from './scalars.ts';

/** The simulated machines that ship with umaprobe, by name. */
export interface MachineList {
  schema: 'umaprobe/sim-list/1';
  machines: MachineSummary[];
}

/** A shipped machine, as listed by `machines()`. */
export interface MachineSummary {
  name: string;
  description: string;
  /** Names of its GPUs. */
  devices: string[];
  /** MemTotal, in bytes. */
  total: Natural;
  /** Absolute path of the machine file. */
  file: string;
}
