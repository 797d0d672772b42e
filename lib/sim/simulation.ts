/** Boots a simulated machine, and puts this or another process on it. */

import { join } from 'node:path';
import { checkKeys, outOfRange } from '../base/arguments.ts';
import { toUmaError } from '../base/errors.ts';
import { native, nvidiaSmiProgram, simulatorLibrary } from '../core/native/binding.ts';
import { foreignVariables } from '../core/native/machine-environment.ts';
import type { Machine } from '../types/index.ts';
import { createLibraryFolder, createProgramFolder, ownVariables } from './environment.ts';
import { checkMachine, loadMachine } from './load.ts';
import { flatten, type JsonObject, machineError } from './machine.ts';
import { createStateFolder, removeStateFolder } from './state.ts';

/** A booted simulated machine. It lives until `close()` or until this process ends. */
export interface Simulation {
  readonly name: string;
  /** State file that every process on the machine maps. */
  readonly statePath: string;
  /** Environment variables that put umaprobe on the machine. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Environment variables that put any program on it: NVIDIA's libraries by name, nvidia-smi on PATH and, with `preload`
   * (default true), /proc/meminfo.
   */
  foreignEnv(options?: { preload?: boolean }): Record<string, string>;
  /** The record of the machine so far: wedges, peaks, live allocations, actions. */
  record(): SimulationRecord;
  /** Removes the machine's files. Processes still on it keep their mappings. */
  close(): void;
}

/** The record that the machine keeps; docs/simulated-machine.md describes the other fields. */
export interface SimulationRecord extends JsonObject {
  machine: string;
  /**
   * Time of the wedge by the simulated clock since boot, and the process id of the call that it struck; null: the
   * machine was never wedged.
   */
  wedged: null | { atMs: number; pid: number; during: string };
}

/**
 * Boots a machine: a loaded one, or one given by name or file.
 *
 * @example
 * ```ts
 * import { simulate } from 'umaprobe/sim';
 *
 * const simulation = simulate('gb10', { scale: 1000 });
 * console.log(simulation.record().machine);
 * simulation.close();
 * ```
 *
 * @param options `scale`: simulated seconds per real second; 1000 turns a second of waiting into a millisecond.
 * @throws TypeError `ERR_INVALID_ARG_VALUE` for a name that does not exist, a machine that does not match its schema, or
 *   parts that exceed the total; UmaError when the simulator cannot be loaded.
 */
export function simulate(machineOrName: Machine | string, options: { scale?: number } = {}): Simulation {
  checkKeys('simulate()', options, { scale: true });
  const { scale } = options;
  const machine = typeof machineOrName === 'string' ? loadMachine(machineOrName) : checkMachine(machineOrName);
  if (scale !== undefined && !(Number.isFinite(scale) && scale > 0)) {
    throw outOfRange('scale', 'simulated seconds per real second, above 0', scale);
  }
  const booted: Machine = scale === undefined ? machine : { ...machine, clock: { scale } };
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
    // EINVAL: errors that the schema cannot express, such as parts that exceed the total.
    throw failure.name === 'EINVAL'
      ? machineError(`Machine ${machine.name}: ${failure.message}.`)
      : toUmaError(failure);
  }
  createLibraryFolder(booted, folder, simulator);
  createProgramFolder(folder, nvidiaSmiProgram());
  const env = ownVariables(statePath, simulator);
  return {
    name: machine.name,
    statePath,
    env,
    foreignEnv(options = {}) {
      checkKeys('foreignEnv()', options, { preload: true });
      const { preload = true } = options;
      return { ...env, ...foreignVariables(folder, simulator, preload, process.env) };
    },
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
 * Puts this process with all its threads on the machine for the rest of its life, and processes and workers that it
 * starts later. Call it before the first reading, because the libraries of a machine stay open.
 *
 * @example
 * ```ts
 * import { memory } from 'umaprobe';
 * import { activate, simulate } from 'umaprobe/sim';
 *
 * activate(simulate('gb10'));
 * console.log((await memory()).simulated);
 * ```
 *
 * @throws UmaError `ERR_UMA_BUSY` when this process has read the real machine, or is on another simulated one.
 */
export function activate(simulation: Simulation): void {
  const failure = native().enterMachine(simulatorLibrary(), simulation.statePath);
  if (failure !== null) throw toUmaError(failure);
  Object.assign(process.env, simulation.env);
}
