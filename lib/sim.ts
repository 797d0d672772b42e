/** The door for tests (`umaprobe/sim`): simulated machines, listed, loaded, booted and entered. */

export { loadMachine, shippedMachines as machines } from './sim/load.ts';
export type { Machine, MachineSummary } from './sim/machine.ts';
export { activate, type Simulation, type SimulationRecord, simulate } from './sim/simulation.ts';
