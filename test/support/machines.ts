/** Simulated machines for tests: shipped ones with changes, booted for one test and closed after it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadMachine, type Machine, type MachineDevice, type Simulation, simulate } from '../../lib/sim.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { waitFor } from './wait.ts';

/** A shipped machine with changed fields. Objects are merged one level deep; anything else is replaced. */
export function machineWith(name: string, changes: object): Machine {
  const shipped = loadMachine(name);
  const fields = new Map<string, unknown>(Object.entries(shipped));
  const merged = Object.entries(changes).map(([key, value]) => {
    const before = fields.get(key);
    const mergeable = typeof before === 'object' && typeof value === 'object' && !Array.isArray(value);
    return [key, mergeable ? { ...before, ...value } : value];
  });
  return { ...shipped, ...Object.fromEntries(merged) };
}

/** A GB10 whose driver has these faults. */
export function gb10WithFaults(faults: object): Machine {
  return machineWith('gb10', { faults });
}

/** A GB10 with a second device, which has its own UUID and PCI id. */
export function gb10WithTwoDevices(faults: object): Machine {
  const machine = gb10WithFaults(faults);
  const [first] = machine.devices as [MachineDevice];
  const second = { ...first, uuid: 'GPU-5117ab1e-0000-0000-0000-000000000011', pciBusId: '0010:01:00.0' };
  return { ...machine, devices: [first, second] };
}

/** The machine with other results of NVML for its devices. */
export function withNvml(machine: Machine, changes: Partial<MachineDevice['nvml']>): Machine {
  const devices = machine.devices.map((device) => ({ ...device, nvml: { ...device.nvml, ...changes } }));
  return { ...machine, devices };
}

/** Writes a machine file that extends a shipped machine, as a user does; answers its path. */
export function machineFile(name: string, changes: object, base = 'gb10'): string {
  const path = join(temporaryFolder('machine'), `${name}.json`);
  const header = { schema: 'umaprobe/machine/1', name, extends: base, description: 'Made by a test.' };
  writeFileSync(path, JSON.stringify({ ...header, ...changes }));
  return path;
}

/**
 * Boots a machine for one use and closes it afterwards.
 *
 * @param options `scale`: simulated seconds per real second.
 */
export async function withMachine<T>(
  machine: Machine | string,
  use: (simulation: Simulation) => T | Promise<T>,
  options: { scale?: number } = {},
): Promise<T> {
  const simulation = simulate(machine, options);
  try {
    return await use(simulation);
  } finally {
    simulation.close();
  }
}

/** The same with a clock that runs 20 times as fast: searches take seconds, deadlines of real seconds still hold. */
export function withFastMachine<T>(
  machine: Machine | string,
  use: (simulation: Simulation) => T | Promise<T>,
): Promise<T> {
  return withMachine(machine, use, { scale: 20 });
}

/** Waits until no process holds bytes on the machine: an exit takes simulated time. */
export async function nothingIsHeld(simulation: Simulation): Promise<void> {
  const held = () => (simulation.record().live as { bytes: number }[]).filter(({ bytes }) => bytes > 0);
  await waitFor('the end of all memory that is held', held, (live) => live.length === 0);
}
