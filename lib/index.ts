/** The only door. What is not exported here is not part of umaprobe's interface. */

export { UmaError } from './errors.ts';
export { hostMemorySync } from './host-memory.ts';
export { memGetInfo, memGetInfoSync } from './mem-get-info.ts';
export { type Simulation, loadMachine, machines, simulate } from './sim.ts';
export { snapshot } from './snapshot.ts';
export type * from './types.ts';
export { watch } from './watch.ts';
