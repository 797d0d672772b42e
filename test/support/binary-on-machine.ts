/** Programs against the bare binary: each in a process of its own, on a simulated machine made for it. */

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from '../../lib/native/binding.ts';
import type { JsonObject } from '../../lib/sim/machine.ts';
import { loadMachine, type Machine, type Simulation, simulate } from '../../lib/sim.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The binary under test. */
export const binary = load(root).path;
export const simulator = join(binary, '..', 'libumasim.so');

/** A sanitizer makes everything several times slower; what counts repetitions does fewer. */
export const sanitized = /lib[at]san/.test(process.env.LD_PRELOAD ?? '');

/** A GB10 whose driver has these faults. */
export function faulty(faults: JsonObject): Machine {
  const machine = loadMachine('gb10');
  return { ...machine, faults: { ...(machine.faults as JsonObject), ...faults } };
}

/**
 * The programs are where the threads are, so it is they whom the thread sanitizer stops at a race. vitest's own process is
 * let alone: its bundler races with Node, as far as a sanitizer without an instrumented Node can tell.
 */
const strict: NodeJS.ProcessEnv = /libtsan/.test(process.env.LD_PRELOAD ?? '')
  ? {
      TSAN_OPTIONS: `${process.env.TSAN_OPTIONS ?? ''}:halt_on_error=1:exitcode=66:log_path=stderr:suppressions=${join(root, 'native/tsan.supp')}`,
    }
  : {};

/** How a program ended. */
export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  durationMs: number;
}

/** Runs an ES module that has the binary as `b` and prints its findings with `say(value)`, one JSON document a line. */
export function runModule(body: string, env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const script = `
    import { createRequire } from 'node:module';
    const require = createRequire(${JSON.stringify(import.meta.url)});
    const binary = ${JSON.stringify(binary)};
    const b = require(binary);
    const say = (value) => console.log(JSON.stringify(value, (_, v) => (Number.isNaN(v) ? 'NaN' : v)));
    const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    ${body}`;
  const started = performance.now();
  const child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', script], {
    env: { ...process.env, ...strict, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) =>
      resolve({ code, signal, stdout, stderr, durationMs: performance.now() - started }),
    );
  });
}

/** What the module said; a module that did not end well is an error with its last words. */
export async function said(body: string, env: NodeJS.ProcessEnv = {}): Promise<unknown[]> {
  const ended = await runModule(body, env);
  if (ended.code !== 0) throw new Error(`ended with ${ended.code ?? ended.signal}: ${ended.stderr}${ended.stdout}`);
  return ended.stdout
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);
}

/** The same on a machine, booted for this one program. */
export async function onMachine<T>(machine: Machine, use: (simulation: Simulation) => Promise<T>): Promise<T> {
  const simulation = simulate(machine);
  try {
    return await use(simulation);
  } finally {
    simulation.close();
  }
}

/** The names of the facts that failed, with how. */
export function failures(device: object): Record<string, string> {
  const entries = Object.entries(device).flatMap(([key, value]: [string, { failed?: true; name?: string } | null]) =>
    value?.failed ? [[key, value.name ?? '']] : [],
  );
  return Object.fromEntries(entries);
}

/** A machine with a second device, told apart by its uuid and PCI id. */
export function twoDevices(faults: JsonObject): Machine {
  const machine = faulty(faults);
  const [first] = machine.devices as [JsonObject];
  const second = { ...first, uuid: 'GPU-5117ab1e-0000-0000-0000-000000000011', pciBusId: '0010:01:00.0' };
  return { ...machine, devices: [first, second] };
}
