/**
 * The entry point `umaprobe/sim`, for tests: lists, loads and boots simulated machines, and puts this process on one.
 *
 * @module umaprobe/sim
 */

import { refuseOldNode } from './base/node-version.ts';

export { loadMachine, shippedMachines as machines } from './sim/load.ts';
export type { Json, JsonObject, Machine } from './sim/machine.ts';
export { activate, type Simulation, type SimulationRecord, simulate } from './sim/simulation.ts';
export type * from './types/sim.ts';

refuseOldNode();
