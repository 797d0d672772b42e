/** Boots a simulated machine, and puts this process or another one on it. */
import { join } from 'node:path';
import { outOfRange } from '../base/arguments.ts';
import { toUmaError } from '../base/errors.ts';
import { native, simulatorLibrary } from '../native/binding.ts';
import { createLibraryFolder, foreignVariables, ownVariables } from './environment.ts';
import { loadMachine } from './load.ts';
import { flatten, isObject, type JsonObject, type Machine, machineError } from './machine.ts';
import { createStateFolder, removeStateFolder } from './state.ts';

/** A booted simulated machine. It lives until `close()` or until this process ends. */
export interface Simulation {
  readonly name: string;
  /** File that every process on the machine maps. */
  readonly statePath: string;
  /** Environment that puts umaprobe on it. */
  readonly env: Readonly<Record<string, string>>;
  /** Environment that puts any program on it: NVIDIA's libraries by their names and, with `preload`, /proc/meminfo. */
  foreignEnv(options?: { preload?: boolean }): Record<string, string>;
  /** What happened on it so far: whether it was wedged, its peaks, live allocations, actions. */
  record(): SimulationRecord;
  /** Removes its files. Processes still on it keep what they have mapped. */
  close(): void;
}

/** The machine's own account; fields beyond these are described in docs/simulated-machine.md. */
export interface SimulationRecord extends JsonObject {
  machine: string;
  /** null: it never was. */
  wedged: null | { atMs: number; pid: number; during: string };
}

/**
 * Boots a machine: a loaded one, or one by name or file.
 *
 * @param options `scale`: simulated seconds per real second; 1000 turns a second of waiting into a millisecond.
 * @throws TypeError `ERR_INVALID_ARG_VALUE` for a machine that does not exist or is not as its schema says;
 *   UmaError when the simulator cannot be loaded.
 */
export function simulate(machineOrName: Machine | string, options: { scale?: number } = {}): Simulation {
  const { scale } = options;
  const machine = typeof machineOrName === 'string' ? loadMachine(machineOrName) : machineOrName;
  if (scale !== undefined && !(Number.isFinite(scale) && scale > 0)) {
    throw outOfRange('scale', 'simulated seconds per real second, above 0', scale);
  }
  const clock = isObject(machine.clock) ? machine.clock : {};
  const booted: Machine = scale === undefined ? machine : { ...machine, clock: { ...clock, scale } };
  const description = flatten(booted);
  const simulator = simulatorLibrary();
  const folder = createStateFolder();
  const close = (): void => {
    process.removeListener('exit', close);
    removeStateFolder(folder);
  };
  process.once('exit', close);
  const statePath = join(folder, 'machine');
  const failure = native().simBoot(simulator, description, statePath);
  if (failure !== null) {
    close();
    // EINVAL: what the schema lets pass and the simulator does not, such as parts that exceed the total.
    throw failure.name === 'EINVAL'
      ? machineError(`Machine ${machine.name}: ${failure.message}.`)
      : toUmaError(failure);
  }
  const libraries = createLibraryFolder(booted, folder, simulator);
  const env = ownVariables(statePath, simulator);
  return {
    name: machine.name,
    statePath,
    env,
    foreignEnv: ({ preload = true } = {}) => ({
      ...env,
      ...foreignVariables(libraries, simulator, preload, process.env),
    }),
    record: () => readRecord(simulator, statePath),
    close,
  };
}

function readRecord(simulator: string, statePath: string): SimulationRecord {
  const text = native().simRecord(simulator, statePath);
  if (typeof text !== 'string') throw toUmaError(text);
  return JSON.parse(text) as SimulationRecord;
}

/**
 * Puts this process on the machine, with all its threads, for its life; processes and workers that it starts from now on
 * follow. Must come before the first reading: the libraries of a machine stay open.
 *
 * @throws UmaError `ERR_UMA_BUSY` when this process has read the real machine, or is on another simulated one.
 */
export function activate(simulation: Simulation): void {
  const failure = native().enterMachine(simulatorLibrary(), simulation.statePath);
  if (failure !== null) throw toUmaError(failure);
  Object.assign(process.env, simulation.env);
}
