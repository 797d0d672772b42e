/**
 * The bare binary in a process of its own. A program is an ES module in which `b` is the binary, `binary` its path,
 * `print(value)` writes one JSON document per line, `sleep(ms)` waits, and `until(look)` waits until `look` answers something,
 * or for 50 s.
 */
import type { Machine } from '../../lib/sim.ts';
import { binaryPath, threadSanitizerEnvironment } from './binary.ts';
import { withMachine } from './machines.ts';
import { type ProcessResult, parseLines, requireSuccess, resultOf, startModule } from './processes.ts';

/** Loads the binary into a program: the first lines of each. */
export const BINARY_PRELUDE = `
    import { createRequire } from 'node:module';
    const require = createRequire(${JSON.stringify(import.meta.url)});
    const binary = ${JSON.stringify(binaryPath)};
    const b = require(binary);
    const print = (value) => console.log(JSON.stringify(value, (_, v) => (Number.isNaN(v) ? 'NaN' : v)));
    const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    const until = async (look) => { for (let i = 0; i < 5000 && !(await look()); i++) await sleep(10); };`;

/** Runs a program in this environment; on the real machine unless the environment names a simulated one. */
export function runWithBinary(program: string, env: NodeJS.ProcessEnv = {}): Promise<ProcessResult> {
  return resultOf(
    startModule(`${BINARY_PRELUDE}\n${program}`, {
      nodeOptions: ['--expose-gc'],
      env: { ...process.env, ...threadSanitizerEnvironment, ...env },
    }),
  );
}

/** The values that the program printed; throws when it failed. */
export async function printedBy(program: string, env: NodeJS.ProcessEnv = {}): Promise<unknown[]> {
  const result = await runWithBinary(program, env);
  requireSuccess(result);
  return parseLines(result.stdout);
}

/** Runs a program on a machine that is booted for it. */
export function runOnMachine(machine: Machine | string, program: string): Promise<ProcessResult> {
  return withMachine(machine, ({ env }) => runWithBinary(program, env));
}

/** The values that a program printed on a machine that was booted for it; throws when it failed. */
export function printedOnMachine(machine: Machine | string, program: string): Promise<unknown[]> {
  return withMachine(machine, ({ env }) => printedBy(program, env));
}

/** The names of the failed facts of a device, by field. */
export function failedFacts(device: object): Record<string, string> {
  const entries = Object.entries(device).flatMap(([key, value]: [string, { failed?: true; name?: string } | null]) =>
    value?.failed ? [[key, value.name ?? '']] : [],
  );
  return Object.fromEntries(entries);
}
